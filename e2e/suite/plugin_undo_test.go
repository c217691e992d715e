//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Mending with the kubectl plugin", func() {
	It("tries again what failed, and undoes what was to be retained", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, planPolicy("mtu", "probes: [{type: ping, target: 203.0.113.254}]", planMTU))
		failed, progress, code := f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(1), progress)
		f.expectAsBefore(ctx, n)

		_, err := n.Exec(ctx, "ip", "address", "add", "203.0.113.254/32", "dev", "lo")
		Expect(err).NotTo(HaveOccurred())
		out, _, code := f.plugin(ctx, "retry", "mtu")
		Expect(code).To(Equal(0))
		Expect(out).To(Equal("policy mtu: generation 2 is a new try on " + n.Name + "\n"))
		again, progress, code := f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(0), progress)
		Expect(again.Generation).To(Equal(failed.Generation + 1))
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})
		_, err = n.Exec(ctx, "ip", "address", "del", "203.0.113.254/32", "dev", "lo")
		Expect(err).NotTo(HaveOccurred())

		out, progress, code = f.plugin(ctx, "undo", "mtu", "--dry-run")
		Expect(code).To(Equal(0), progress)
		Expect(out).To(ContainSubstring("mtu: 1400 -> 1500"))
		why, progress, code := f.plugin(ctx, "why", n.Name, "eth1.mtu")
		Expect(code).To(Equal(0), progress)
		Expect(why).To(MatchRegexp(`(?m)^mtu +1400 +mtu +\S+ +1500 +- +stays; with kubectl nmstate undo mtu it goes back to 1500$`))
		Expect(f.policies(ctx)).To(HaveExactElements("mtu"))
		policy, err := f.policy(ctx, "mtu")
		Expect(err).NotTo(HaveOccurred())
		Expect(policy.Spec.OnDelete).To(BeEmpty())
		awaitKernel(ctx, n, []string{`link {`, `"ifname":"eth1"`, `"mtu":1400`})

		out, progress, code = f.plugin(ctx, "undo", "mtu", "--timeout", "2m")
		Expect(code).To(Equal(0), progress)
		Expect(out).To(Equal("policy mtu: spec.onDelete is Revert now\npolicy mtu: deleted\npolicy mtu: undone\n"))
		f.awaitUndone(ctx, n)
	}, SpecTimeout(specTimeout))
})

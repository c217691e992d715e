//go:build linux

package suite

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// canaryPolicy is a bridge without ports, on all nodes at once unless the rest of
// the spec says something else.
func canaryPolicy(rest string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: canary}
spec:
  maxUnavailable: "100%%"
  desiredState:
    interfaces:
    - {name: br7, type: linux-bridge, state: up, bridge: {options: {stp: {enabled: false}}, port: []}}
%s
`, rest)
}

var hasBridge = []string{`link {`, `"ifname":"br7"`, `"info_kind":"bridge"`}

var _ = Describe("A rollout with a canary", func() {
	It("pauses after it, and goes on when the pause is removed, without doing it again", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		untouched := map[string]int{}
		for _, n := range f.Nodes() {
			untouched[n.Name] = applies(n)
		}
		f.create(ctx, canaryPolicy("  rollout: {canary: 1, pauseAfterCanary: true}"))
		Eventually(ctx, func(g Gomega) {
			policy, err := f.policy(ctx, "canary")
			g.Expect(err).NotTo(HaveOccurred())
			const message = "Policy is progressing 1/3 nodes finished, 2 pending: paused after 1 canary nodes; remove spec.rollout.pauseAfterCanary to go on"
			g.Expect(said(policy.Status.Conditions, v1.PolicyProgressing)).To(Equal(message))
			g.Expect(policy.Status.Conditions).To(ContainElement(And(HaveField("Type", v1.Reconciling), HaveField("Reason", v1.ReasonPaused))))
		}).Should(Succeed())
		canaries := map[string]int{}
		for _, n := range f.Nodes() {
			if count := applies(n); count > untouched[n.Name] {
				canaries[n.Name] = count
				awaitKernel(ctx, n, hasBridge)
			} else {
				f.expectAsBefore(ctx, n)
			}
		}
		Expect(canaries).To(HaveLen(1))

		f.edit(ctx, canaryPolicy("  rollout: {canary: 1}"))
		Expect(f.awaitPolicy(ctx, "canary", policySuccess)).To(Equal("3/3 nodes successfully configured"))
		for _, n := range f.Nodes() {
			awaitKernel(ctx, n, hasBridge)
			if count, is := canaries[n.Name]; is {
				Expect(applies(n)).To(Equal(count), "%s has it already", n.Name)
			}
		}
	}, SpecTimeout(specTimeout))

	It("that fails leaves all other nodes alone, whatever maxUnavailable is", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		untouched := map[string]int{}
		for _, n := range f.Nodes() {
			untouched[n.Name] = applies(n)
		}
		// Nothing listens there, so no node passes.
		f.create(ctx, canaryPolicy(`  rollout: {canary: 1}
  probeTimeoutSeconds: 2
  probes: [{type: tcp, target: "192.0.2.1:9"}]`))
		Expect(f.awaitPolicy(ctx, "canary", policyFailed)).To(Equal("1/3 nodes failed to configure, 2 nodes aborted configuration"))
		failed := 0
		for _, n := range f.Nodes() {
			f.awaitAsBefore(ctx, n)
			enactment, err := f.enactment(ctx, n.Name, "canary")
			Expect(err).NotTo(HaveOccurred())
			if message := said(enactment.Status.Conditions, v1.EnactmentFailing); message != "" {
				failed++
				Expect(message).To(ContainSubstring("tcp 192.0.2.1:9"))
				continue
			}
			f.awaitEnactment(ctx, n.Name, "canary", enactmentAborted)
			Expect(applies(n)).To(Equal(untouched[n.Name]), "applies on %s", n.Name)
		}
		Expect(failed).To(Equal(1))

		f.edit(ctx, canaryPolicy("  rollout: {canary: 1}"))
		Expect(f.awaitPolicy(ctx, "canary", policySuccess)).To(Equal("3/3 nodes successfully configured"))
	}, SpecTimeout(specTimeout))
})

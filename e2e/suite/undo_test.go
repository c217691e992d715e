//go:build linux

package suite

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// reverting is the policy with onDelete: Revert.
func reverting(manifest string) string {
	return strings.Replace(manifest, "spec:\n", "spec:\n  onDelete: Revert\n", 1)
}

// nicPolicy sets an MTU, addresses, or both of a NIC.
func nicPolicy(name, nic string, mtu int, addresses ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: %s}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    interfaces:
    - name: %s
      type: ethernet
      state: up
`, name, window, nic)
	if mtu > 0 {
		fmt.Fprintf(&b, "      mtu: %d\n", mtu)
	}
	if len(addresses) > 0 {
		b.WriteString("      ipv4:\n        enabled: true\n        dhcp: false\n        address:\n")
		for _, address := range addresses {
			fmt.Fprintf(&b, "        - {ip: %s, prefix-length: 24}\n", address)
		}
	}
	return b.String()
}

var _ = Describe("A policy with onDelete: Revert", func() {
	It("that moved a configured NIC under a bridge with address and route leaves the node as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, nicPolicy("base", "eth1", 1400, "198.18.0.5"))
		f.awaitEnactment(ctx, n.Name, "base", enactmentSuccess)
		f.delete(ctx, "base") // Retained: from now on it is the node's own.
		f.awaitGone(ctx, n, "base")
		before := snap(ctx, n)

		f.create(ctx, reverting(bridgePolicy("203.0.113.10")))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		awaitKernel(ctx, n, bridged("203.0.113.10")...)
		f.delete(ctx, "bridge")
		f.awaitGone(ctx, n, "bridge")
		f.await(ctx, n, before)
		f.awaitNotFailing(ctx, n)
	}, SpecTimeout(specTimeout))

	It("that gave a NIC a static address leaves it with no more of DHCP than it took before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		byHand(ctx, n, "nmcli", "con", "add", "type", "ethernet", "ifname", "eth2", "con-name", "storage", "ipv4.method", "auto", "ipv4.dhcp-timeout", "infinity",
			"ipv4.never-default", "yes", "ipv4.ignore-auto-dns", "yes", "ipv4.ignore-auto-routes", "yes", "ipv4.route-metric", "300", "ipv6.method", "link-local")
		DeferCleanup(func(ctx SpecContext) { byHand(ctx, n, "nmcli", "con", "delete", "storage") })
		takes := func() string {
			out, err := n.Exec(ctx, "nmcli", "-g", "ipv4.method,ipv4.never-default,ipv4.ignore-auto-dns,ipv4.ignore-auto-routes,ipv4.route-metric", "con", "show", "storage")
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		before := takes()
		Eventually(ctx, connection).WithArguments(n, "eth2").Should(HavePrefix("100 (connected)"))

		f.create(ctx, reverting(nicPolicy("nic", "eth2", 0, "198.18.0.5")))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		Expect(takes()).NotTo(Equal(before))
		f.delete(ctx, "nic")
		f.awaitGone(ctx, n, "nic")
		Expect(takes()).To(Equal(before))
	}, SpecTimeout(specTimeout))

	It("on a NIC that nobody had configured leaves the kernel as before", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, reverting(bridgePolicy("203.0.113.10")))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		f.delete(ctx, "bridge")
		f.awaitGone(ctx, n, "bridge")
		f.awaitUndone(ctx, n)
	}, SpecTimeout(specTimeout))

	It("takes only its own away from a NIC that it shares, in either order", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		for _, first := range []string{"size", "address"} {
			second := map[string]string{"size": "address", "address": "size"}[first]
			f.create(ctx, reverting(nicPolicy("size", "eth1", 1400)))
			f.awaitEnactment(ctx, n.Name, "size", enactmentSuccess)
			f.create(ctx, reverting(nicPolicy("address", "eth1", 0, "198.18.0.5")))
			f.awaitEnactment(ctx, n.Name, "address", enactmentSuccess)
			awaitKernel(ctx, n, marks("eth1", "1400")...)
			awaitKernel(ctx, n, marks("eth1", "", "198.18.0.5")...)
			f.delete(ctx, first)
			f.awaitGone(ctx, n, first)
			if first == "size" {
				awaitKernel(ctx, n, marks("eth1", "1500", "198.18.0.5")...)
			} else {
				awaitKernel(ctx, n, marks("eth1", "1400")...)
				expectWithout(ctx, n, "198.18.0.5")
			}
			f.delete(ctx, second)
			f.awaitGone(ctx, n, second)
			f.awaitUndone(ctx, n)
		}
	}, SpecTimeout(2*specTimeout))

	It("whose lists shrink loses only what left them, and what was there before comes back", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		route := func(destination string) string {
			return fmt.Sprintf("      - {destination: %s, next-hop-address: 198.18.0.1, next-hop-interface: eth1}\n", destination)
		}
		routed := reverting(nicPolicy("routed", "eth1", 0, "198.18.0.5", "198.18.0.6")) + "    routes:\n      config:\n"
		f.create(ctx, routed+route("198.51.100.0/24")+route("203.0.113.0/24"))
		f.awaitEnactment(ctx, n.Name, "routed", enactmentSuccess)
		awaitKernel(ctx, n, []string{"route {", "198.51.100.0/24"}, []string{"route {", "203.0.113.0/24"})

		fewer := strings.Replace(routed, "        - {ip: 198.18.0.6, prefix-length: 24}\n", "", 1)
		f.edit(ctx, fewer+route("198.51.100.0/24"))
		f.awaitEnactment(ctx, n.Name, "routed", enactmentSuccess)
		awaitKernel(ctx, n, append(marks("eth1", "", "198.18.0.5"), []string{"route {", "198.51.100.0/24"})...)
		expectWithout(ctx, n, "203.0.113.0/24", "198.18.0.6")
		f.delete(ctx, "routed")
		f.awaitGone(ctx, n, "routed")
		f.awaitUndone(ctx, n)
	}, SpecTimeout(specTimeout))

	It("whose undo would cut the node off is taken back, its configuration stays, and that is said", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, reverting(fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: lifeline}
spec:
  probeTimeoutSeconds: %d
  desiredState:
    routes:
      config:
      - {destination: 192.0.2.1/32, next-hop-interface: eth0, metric: 50}
`, window)))
		f.awaitEnactment(ctx, n.Name, "lifeline", enactmentSuccess)
		// Without the policy's route the gateway is out of reach from now on.
		byHand(ctx, n, "ip", "route", "add", "unreachable", "192.0.2.1/32", "metric", "500")
		restarts := unit(ctx, n, "handler").Restarts
		killHandler(ctx, n) // The next one asks every probe anew.
		awaitHandler(ctx, n, restarts+1)
		kept := snap(ctx, n)
		f.delete(ctx, "lifeline")
		message := f.awaitStateFailing(ctx, n)
		Expect(message).To(And(ContainSubstring("undo of policy lifeline"), ContainSubstring("its configuration stays")))
		f.awaitGone(ctx, n, "lifeline")
		f.await(ctx, n, kept)
		before := applies(n)
		Consistently(ctx, func() int { return applies(n) }).WithTimeout(5 * time.Second).Should(Equal(before))

		f.create(ctx, nicPolicy("another", "eth2", 1400))
		f.awaitEnactment(ctx, n.Name, "another", enactmentSuccess)
		f.awaitNotFailing(ctx, n)
	}, SpecTimeout(2*specTimeout))

	DescribeTable("is undone although the handler is killed with -9 in mid-undo",
		func(ctx SpecContext, phase txn.Phase) {
			f := take(ctx, oneNode)
			n := f.node()
			f.create(ctx, reverting(bridgePolicy("203.0.113.10")))
			f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
			log, restarts := follow(n), unit(ctx, n, "handler").Restarts
			f.delete(ctx, "bridge")
			log.until(ctx, string(phase))
			killHandler(ctx, n)
			AddReportEntry("killed", f.where(n, log))
			awaitHandler(ctx, n, restarts+1)
			f.awaitGone(ctx, n, "bridge")
			f.awaitUndone(ctx, n)
			Expect(checkpoints(ctx, n)).To(BeEmpty())
		},
		Entry("in Applying", txn.Applying, SpecTimeout(specTimeout)),
		Entry("in Probing", txn.Probing, SpecTimeout(specTimeout)),
		Entry("in Committing", txn.Committing, SpecTimeout(specTimeout)),
	)
})

// awaitUndone is awaitAsBefore for an undo, which is a change like any other, by
// nmstate's model: a NIC that had no profile keeps one that does nothing, and
// NetworkManager keeps IPv6 switched off in the kernel, so without the multicast
// route, on a NIC that it has once configured.
func (f *fleet) awaitUndone(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	pristine := f.pristine[n.Name]
	Eventually(ctx, func(g Gomega) {
		now := snap(ctx, n)
		multicast := func(line string) bool { return strings.Contains(line, `"dst":"ff00::/8"`) }
		want := pristine
		want.Kernel = slices.DeleteFunc(slices.Clone(want.Kernel), multicast)
		now.Kernel = slices.DeleteFunc(now.Kernel, multicast)
		maps.DeleteFunc(now.Profiles, func(name, text string) bool { return want.Profiles[name] == "" && lab.IdleProfile(text) })
		g.Expect(cmp.Diff(want, now)).To(BeEmpty())
	}).Should(Succeed())
}

// marks are those of a NIC with this MTU and these addresses in the kernel.
func marks(nic, mtu string, addresses ...string) [][]string {
	var parts [][]string
	if mtu != "" {
		parts = append(parts, []string{"link {", `"ifname":"` + nic + `"`, `"mtu":` + mtu})
	}
	for _, address := range addresses {
		parts = append(parts, []string{"address {", `"ifname":"` + nic + `"`, `"local":"` + address + `"`})
	}
	return parts
}

// expectWithout expects that the kernel has none of these.
func expectWithout(ctx context.Context, n *lab.Node, words ...string) {
	GinkgoHelper()
	text, err := n.Settled(ctx)
	Expect(err).NotTo(HaveOccurred())
	for _, word := range words {
		Expect(text).NotTo(ContainSubstring(word))
	}
}

// awaitGone waits until the node is done with a policy that is deleted: the
// spec is without it, the state handler has committed that, and the enactment
// is gone.
func (f *fleet) awaitGone(ctx context.Context, n *lab.Node, policy string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		_, err := f.enactment(ctx, n.Name, policy)
		g.Expect(apierrors.IsNotFound(err)).To(BeTrue(), "the enactment is gone")
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		for _, source := range nns.Spec.Sources {
			g.Expect(source.Policy).NotTo(Equal(policy))
		}
		for _, source := range nns.Status.AppliedSources {
			g.Expect(source.Policy).NotTo(Equal(policy))
		}
		g.Expect(nns.Status.ObservedGeneration).To(Equal(nns.Generation))
		g.Expect(filepath.Join(n.DiskPath(journalDir), "journal.json")).NotTo(BeAnExistingFile())
	}).Should(Succeed())
}

func (f *fleet) awaitStateFailing(ctx context.Context, n *lab.Node) string {
	GinkgoHelper()
	message := ""
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		message = said(nns.Status.Conditions, v1.StateFailing)
		g.Expect(message).To(ContainSubstring("undo"))
	}).WithTimeout(2*time.Minute + patience).Should(Succeed()) // the default probe window: a policy that is gone has none
	return message
}

func (f *fleet) awaitNotFailing(ctx context.Context, n *lab.Node) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		if c := v1.FindCondition(nns.Status.Conditions, v1.StateFailing); c != nil {
			g.Expect(c.Status).To(Equal(metav1.ConditionFalse), c.Message)
		}
	}).Should(Succeed())
}

//go:build linux

package suite

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// bareUp wants a NIC up and nothing else, so that the kernel tells of no change when
// NetworkManager lets it go.
func bareUp(drift string) string {
	return fmt.Sprintf(`
apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: nic}
spec:
  drift: %s
  desiredState:
    interfaces:
    - {name: eth2, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
`, drift)
}

// connection is what NetworkManager says of a device: "connected", "disconnected".
func connection(ctx context.Context, n *lab.Node, device string) string {
	GinkgoHelper()
	out, err := n.Exec(ctx, "nmcli", "-g", "GENERAL.STATE", "device", "show", device)
	Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

var _ = Describe("An interface that is up, by a committed policy", func() {
	It("and that somebody disconnects has drifted, though its link is up, and is activated again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bareUp("Correct"))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before := applies(n)

		byHand(ctx, n, "nmcli", "device", "disconnect", "eth2")
		f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		Expect(connection(ctx, n, "eth2")).To(ContainSubstring("(connected)"))
		Expect(applies(n)).To(Equal(before + 1))
		f.awaitEvents(ctx, "nic", "DriftFound", "DriftCorrected")
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
	}, SpecTimeout(specTimeout))

	It("and that somebody disconnects is only told of where the policy says Report", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bareUp("Report"))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before := applies(n)

		byHand(ctx, n, "nmcli", "device", "disconnect", "eth2")
		drift := f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		Expect(drift).To(HaveLen(1))
		drift[0].Since = metav1.Time{}
		Expect(drift[0]).To(Equal(v1.Drift{
			Path: "interfaces[eth2].state", Expected: "up", Found: "disconnected in NetworkManager", Policy: "nic", Action: "Reported",
		}))
		Expect(n.Exec(ctx, "ip", "link", "show", "eth2")).To(ContainSubstring("state UP"), "the kernel's link")
		byHand(ctx, n, "nmcli", "device", "connect", "eth2")
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))

	It("and whose cable is pulled out has not drifted: NetworkManager brings everything back with the cable", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, nicPolicy("nic", "eth1", 1400, "198.18.0.5"))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before := applies(n)
		isUp := func(g Gomega) bool {
			nns, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			shown, err := state.Parse(nns.Status.CurrentState.Raw)
			g.Expect(err).NotTo(HaveOccurred())
			one, _ := shown.Interface("eth1")
			return one.State == "up" && len(one.Addresses(state.IPv4)) > 0
		}

		Expect(n.Carrier(ctx, "eth1", false)).To(Succeed())
		Eventually(ctx, func(g Gomega) { g.Expect(isUp(g)).To(BeFalse()) }).Should(Succeed())
		Consistently(ctx, func(g Gomega) {
			nns, err := f.nodeState(ctx, n.Name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(nns.Status.Drift).To(BeEmpty())
			g.Expect(isUp(g)).To(BeFalse())
			g.Expect(applies(n)).To(Equal(before))
		}).WithTimeout(20 * time.Second).Should(Succeed())
		Expect(n.Carrier(ctx, "eth1", true)).To(Succeed())
		awaitKernel(ctx, n, marks("eth1", "1400", "198.18.0.5")...)
		Eventually(ctx, func(g Gomega) { g.Expect(isUp(g)).To(BeTrue()) }).Should(Succeed())
		Expect(applies(n)).To(Equal(before))
	}, SpecTimeout(specTimeout))
})

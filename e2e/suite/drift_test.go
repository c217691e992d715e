//go:build linux

package suite

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

var _ = Describe("A node that somebody else changes", func() {
	It("is put right, which the node's state and the policy's events tell", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, nicPolicy("nic", "eth1", 1400, "198.18.0.5"))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before, state := applies(n), f.mustState(ctx, n)

		byHand(ctx, n, "ip", "link", "set", "eth1", "mtu", "1300")
		f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		awaitKernel(ctx, n, marks("eth1", "1400", "198.18.0.5")...)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		Expect(applies(n)).To(Equal(before + 1))

		byHand(ctx, n, "ip", "address", "del", "198.18.0.5/24", "dev", "eth1")
		f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		awaitKernel(ctx, n, marks("eth1", "1400", "198.18.0.5")...)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)

		Expect(f.mustState(ctx, n).Status.Transaction).To(Equal(state.Status.Transaction), "the policies' transaction")
		f.awaitEvents(ctx, "nic", "DriftFound", "DriftCorrected")
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
	}, SpecTimeout(specTimeout))

	It("is only told of where the policy says Report", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, strings.Replace(nicPolicy("nic", "eth1", 1400), "spec:\n", "spec:\n  drift: Report\n", 1))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before := applies(n)
		byHand(ctx, n, "ip", "link", "set", "eth1", "mtu", "1300")
		drift := f.awaitDrifted(ctx, n, metav1.ConditionTrue)
		Expect(drift).To(HaveLen(1))
		Expect(drift[0].Since.IsZero()).To(BeFalse())
		drift[0].Since = metav1.Time{}
		Expect(drift[0]).To(Equal(v1.Drift{Path: "interfaces[eth1].mtu", Expected: "1400", Found: "1300", Policy: "nic", Action: "Reported"}))
		Consistently(ctx, func(g Gomega) {
			g.Expect(applies(n)).To(Equal(before))
			text, err := n.Settled(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(missing(text, marks("eth1", "1300"))).To(BeEmpty())
		}).WithTimeout(8 * time.Second).Should(Succeed())
		byHand(ctx, n, "ip", "link", "set", "eth1", "mtu", "1400")
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
	}, SpecTimeout(specTimeout))

	It("again and again is put right more and more rarely", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, nicPolicy("nic", "eth1", 1400))
		f.awaitEnactment(ctx, n.Name, "nic", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		before := applies(n)
		const fight = 50 * time.Second
		damped := false
		for end := time.Now().Add(fight); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
			byHand(ctx, n, "ip", "link", "set", "eth1", "mtu", "1300")
			for _, d := range f.mustState(ctx, n).Status.Drift {
				damped = damped || d.Action == "Damped"
			}
		}
		// At once, after 10 s, after another 20 s.
		corrections := applies(n) - before
		AddReportEntry("corrections", corrections)
		Expect(corrections).To(And(BeNumerically(">=", 2), BeNumerically("<=", 4)))
		Expect(damped).To(BeTrue(), "that a correction waits was told")
	}, SpecTimeout(specTimeout))

	It("does not drift because NetworkManager restarts or the node reboots", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		n := f.node()
		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, n.Name, "bridge", enactmentSuccess)
		f.awaitDrifted(ctx, n, metav1.ConditionFalse)
		for _, disturb := range []func(){
			func() { restartNM(ctx, n) },
			func() { Expect(n.Reboot(ctx)).To(Succeed()) },
		} {
			disturb()
			before := applies(n)
			awaitKernel(ctx, n, bridged("203.0.113.10")...)
			Consistently(ctx, func(g Gomega) {
				nns, err := f.nodeState(ctx, n.Name)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(nns.Status.Drift).To(BeEmpty())
				g.Expect(applies(n)).To(Equal(before))
			}).WithTimeout(20 * time.Second).Should(Succeed())
		}
	}, SpecTimeout(specTimeout))
})

func byHand(ctx context.Context, n *lab.Node, command ...string) {
	GinkgoHelper()
	out, err := n.Exec(ctx, command...)
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// awaitDrifted waits for the condition and returns what drifted.
func (f *fleet) awaitDrifted(ctx context.Context, n *lab.Node, want metav1.ConditionStatus) []v1.Drift {
	GinkgoHelper()
	var drift []v1.Drift
	Eventually(ctx, func(g Gomega) {
		nns, err := f.nodeState(ctx, n.Name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(cond(nns.Status.Conditions, v1.StateDrifted)).To(Equal(want))
		drift = nns.Status.Drift
		g.Expect(len(drift) > 0).To(Equal(want == metav1.ConditionTrue))
	}).Should(Succeed())
	return drift
}

// awaitEvents waits until the policy has events with these reasons.
func (f *fleet) awaitEvents(ctx context.Context, policy string, reasons ...string) {
	GinkgoHelper()
	Eventually(ctx, func(g Gomega) {
		var events corev1.EventList
		g.Expect(f.Client.List(ctx, &events)).To(Succeed())
		found := map[string]bool{}
		for _, e := range events.Items {
			if e.InvolvedObject.Name == policy {
				found[e.Reason] = true
			}
		}
		for _, reason := range reasons {
			g.Expect(found).To(HaveKey(reason))
		}
	}).Should(Succeed())
}

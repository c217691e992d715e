package kind

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func drift() {
	It("by hand is put right, and told", func(ctx SpecContext) {
		w := k.workers[0]
		k.become(ctx, manifest("nic", on(w), nic("eth1", 1400, "10.34.0.1")), "nic", []*node{w}, sized("eth1", 1400, "10.34.0.1")...)
		k.awaitState(ctx, w, v1.StateDrifted, metav1.ConditionFalse)
		w.mustRun(ctx, "ip", "link", "set", "eth1", "mtu", "1300")
		k.awaitEvents(ctx, "nic", "DriftFound")
		w.awaitKernel(ctx, sized("eth1", 1400, "10.34.0.1")...)
		k.awaitState(ctx, w, v1.StateDrifted, metav1.ConditionFalse)
		k.awaitEvents(ctx, "nic", "DriftCorrected")
		k.awaitEnactment(ctx, w, "nic", v1.EnactmentAvailable)
	}, SpecTimeout(specTimeout))

	It("is only told of where the policy says Report", func(ctx SpecContext) {
		w := k.workers[1]
		k.become(ctx, manifest("nic", on(w), nic("eth1", 1400, "10.34.0.1"), "drift: Report"), "nic", []*node{w}, sized("eth1", 1400, "10.34.0.1")...)
		before := w.checkpoints(ctx)
		w.mustRun(ctx, "ip", "link", "set", "eth1", "mtu", "1300")
		nns := k.awaitState(ctx, w, v1.StateDrifted, metav1.ConditionTrue)
		Expect(nns.Status.Drift).To(HaveLen(1))
		Expect(nns.Status.Drift[0]).To(And(HaveField("Path", "interfaces[eth1].mtu"), HaveField("Expected", "1400"),
			HaveField("Found", "1300"), HaveField("Policy", "nic"), HaveField("Action", "Reported")))
		w.mustRun(ctx, "ip", "link", "set", "eth1", "mtu", "1400")
		k.awaitState(ctx, w, v1.StateDrifted, metav1.ConditionFalse)
		Expect(w.checkpoints(ctx)).To(Equal(before), "nothing was applied")
	}, SpecTimeout(specTimeout))
}

//go:build linux

package suite

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

var _ = Describe("Looking at nodes with the kubectl plugin", func() {
	It("lists interfaces, tells who has set one, and what a node does not have", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		f.create(ctx, planPolicy("mtu", "drift: Report", planMTU))
		f.awaitAvailable(ctx, "mtu")
		first := f.node()

		var found []view.Interface
		out, progress, code := f.plugin(ctx, "get", "interfaces", "--where", "mtu == 1400", "-o", "json")
		Expect(code).To(Equal(0), progress)
		Expect(json.Unmarshal([]byte(out), &found)).To(Succeed())
		Expect(found).To(HaveLen(3))
		Expect(found).To(HaveEach(And(HaveField("Name", "eth1"), HaveField("MAC", Not(BeEmpty())), HaveField("Policies", HaveExactElements("mtu")))))
		_, progress, code = f.plugin(ctx, "get", "interfaces", "--where", "mtu = 1400")
		Expect(code).To(Equal(2))
		Expect(progress).To(HavePrefix("kubectl-nmstate: usage: --where mtu = 1400: column 5: "))

		_, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(0), progress)
		_, err := first.Exec(ctx, "ip", "link", "set", "eth1", "mtu", "1300")
		Expect(err).NotTo(HaveOccurred())
		f.awaitDrifted(ctx, first, metav1.ConditionTrue)
		out, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(1), progress)
		Expect(out).To(And(ContainSubstring("\n-interfaces[eth1].mtu: 1300\n+interfaces[eth1].mtu: 1400\n"), ContainSubstring("\n interfaces[eth1].type: ethernet\n")))

		var settings []view.Setting
		out, progress, code = f.plugin(ctx, "why", first.Name, "eth1.mtu", "-o", "json")
		Expect(code).To(Equal(0), progress)
		Expect(json.Unmarshal([]byte(out), &settings)).To(Succeed())
		Expect(settings).To(HaveExactElements(And(
			HaveField("Value", "1400"), HaveField("Policies", HaveExactElements("mtu")), HaveField("Since", Not(BeNil())), HaveField("Drift", HaveField("Found", "1300")),
		)))

		// What a policy wants that failed is no part of the node's desired state.
		_, err = first.Exec(ctx, "ip", "link", "set", "eth1", "mtu", "1400")
		Expect(err).NotTo(HaveOccurred())
		f.awaitDrifted(ctx, first, metav1.ConditionFalse)
		// All nodes begin: one that waits is aborted by the failures of others.
		f.create(ctx, planPolicy("other", "onDelete: Revert\n  maxUnavailable: 3", `[{name: eth1, type: ethernet, state: up, mtu: 1300}]`))
		f.awaitFailing(ctx, first.Name, "other")
		out, progress, code = f.plugin(ctx, "diff", first.Name)
		Expect(code).To(Equal(1), progress)
		Expect(out).To(ContainSubstring("desired by policy other, which is not applied: Failing: policy other conflicts with policy mtu"))
	}, SpecTimeout(specTimeout))

	It("tells that a node which is gone in the middle of the change holds no slot any more", func(ctx SpecContext) {
		f := take(ctx, threeNodes)
		Expect(f.StopControllers(ctx)).To(Succeed())
		Expect(f.StartControllers(ctx, cluster.Distributed, "--node-grace", "1s")).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(f.StopControllers(ctx)).To(Succeed())
			Expect(f.StartControllers(ctx, cluster.Distributed)).To(Succeed())
		})
		f.create(ctx, planPolicy("mtu", "maxUnavailable: 1\n  onDelete: Revert\n  defaultProbes: Drop\n  probes: [{type: confirm, timeoutSeconds: 600}]", planMTU))
		waits, progress, code := f.statusOf(ctx, "mtu")
		Expect(code).To(Equal(3), progress)
		Expect(waits.Slots).To(And(HaveField("Of", 1), HaveField("Taken", 1), HaveField("Holders", HaveLen(1))))
		gone := waits.Slots.Holders[0]

		ready := func(ctx context.Context, status corev1.ConditionStatus) {
			var node corev1.Node
			Expect(f.Client.Get(ctx, client.ObjectKey{Name: gone}, &node)).To(Succeed())
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.Now()}}
			Expect(f.Client.Status().Update(ctx, &node)).To(Succeed())
		}
		ready(ctx, corev1.ConditionFalse)
		DeferCleanup(func(ctx SpecContext) { // A handler in the middle of a change is not stopped before its end.
			ready(ctx, corev1.ConditionTrue)
			f.delete(ctx, "mtu")
			Eventually(ctx, func() []v1.NodeNetworkConfigurationEnactment { return f.enactmentsOf(ctx, "mtu") }).Should(BeEmpty())
		})
		Eventually(ctx, func(g Gomega) {
			var now view.Policy
			out, progress, _ := f.plugin(ctx, "status", "mtu", "-o", "json")
			g.Expect(json.Unmarshal([]byte(out), &now)).To(Succeed(), progress)
			g.Expect(now.Slots).To(And(HaveField("Taken", 1), HaveField("Holders", HaveLen(1)), HaveField("Holders", Not(ContainElement(gone)))))
		}).Should(Succeed())
	}, SpecTimeout(specTimeout))
})

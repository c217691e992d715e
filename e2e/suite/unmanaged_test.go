//go:build linux

package suite

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/cluster"
)

var _ = Describe("A Ready node without a handler", func() {
	It("is counted as not managed, and nobody waits for it until its handler speaks", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "windows", Labels: map[string]string{corev1.LabelOSStable: "windows"}}}
		Expect(f.Client.Create(ctx, other)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(f.StopControllers(ctx)).To(Succeed())
			Expect(f.StartControllers(ctx, cluster.Distributed)).To(Succeed())
			Expect(f.Client.Delete(ctx, other)).To(Succeed())
		})
		other.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		Expect(f.Client.Status().Update(ctx, other)).To(Succeed())

		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, f.node().Name, "bridge", enactmentSuccess)
		progresses := func() string {
			policy, err := f.policy(ctx, "bridge")
			Expect(err).NotTo(HaveOccurred())
			return said(policy.Status.Conditions, v1.PolicyProgressing)
		}
		Eventually(ctx, progresses).Should(Equal("Policy is progressing 1/2 nodes finished, 1 pending"),
			"a node that has just joined gets the time for its handler")

		Expect(f.StopControllers(ctx)).To(Succeed())
		Expect(f.StartControllers(ctx, cluster.Distributed, "--node-grace", "1s")).To(Succeed())
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("1/2 nodes successfully configured, 1 not managed"))
		policy, err := f.policy(ctx, "bridge")
		Expect(err).NotTo(HaveOccurred())
		Expect(policy.Status.Counts).To(Equal(v1.PolicyCounts{Matched: 1, Available: 1, NotManaged: 1}))

		By("its handler speaks")
		state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: other.Name}}
		Expect(f.Client.Create(ctx, state)).To(Succeed())
		Eventually(ctx, progresses).Should(Equal("Policy is progressing 1/2 nodes finished, 1 pending"))
		Expect(client.IgnoreNotFound(f.Client.Delete(ctx, state))).To(Succeed())
		f.awaitPolicy(ctx, "bridge", policySuccess)
	}, SpecTimeout(specTimeout))
})

var _ = Describe("A Ready node whose handler died", func() {
	const namespace = "nmstate" // Where deploy/rbac lets the controllers see pods.

	// pod of a node's handler, as a DaemonSet and a kubelet would have it.
	pod := func(ctx SpecContext, f *fleet, node string) *corev1.Pod {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "nmstate-handler-" + node, Labels: map[string]string{"app.kubernetes.io/name": "nmstate-handler"}},
			Spec:       corev1.PodSpec{NodeName: node, ServiceAccountName: "nmstate-handler", Containers: []corev1.Container{{Name: "handler", Image: "handler"}}},
		}
		Expect(f.Client.Create(ctx, pod)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(f.Client.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		})
		return pod
	}
	tell := func(ctx SpecContext, f *fleet, pod *corev1.Pod, ready corev1.ConditionStatus) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
		Expect(f.Client.Status().Update(ctx, pod)).To(Succeed())
	}

	It("is found by its pod, and nobody waits for it until the pod is Ready again", func(ctx SpecContext) {
		f := take(ctx, oneNode)
		other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "silent"}}
		state := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: other.Name}}
		Expect(f.Client.Create(ctx, other)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(f.StopControllers(ctx)).To(Succeed())
			Expect(f.StartControllers(ctx, cluster.Distributed)).To(Succeed())
			Expect(f.Client.Delete(ctx, other)).To(Succeed())
		})
		other.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		Expect(f.Client.Status().Update(ctx, other)).To(Succeed())
		Expect(f.Client.Create(ctx, state)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(f.Client.Delete(ctx, state)).To(Succeed()) })

		tell(ctx, f, pod(ctx, f, f.node().Name), corev1.ConditionTrue)
		handler := pod(ctx, f, other.Name)
		tell(ctx, f, handler, corev1.ConditionTrue)
		Expect(f.StopControllers(ctx)).To(Succeed())
		Expect(f.StartControllers(ctx, cluster.Distributed, "--node-grace", "1s", "--handler-namespace", namespace)).To(Succeed())

		f.create(ctx, bridgePolicy("203.0.113.10"))
		f.awaitEnactment(ctx, f.node().Name, "bridge", enactmentSuccess)
		progresses := func() string {
			policy, err := f.policy(ctx, "bridge")
			Expect(err).NotTo(HaveOccurred())
			return said(policy.Status.Conditions, v1.PolicyProgressing)
		}
		Eventually(ctx, progresses).Should(Equal("Policy is progressing 1/2 nodes finished, 1 pending"), "its handler runs, and will answer")

		By("its handler ends again and again")
		tell(ctx, f, handler, corev1.ConditionFalse)
		Expect(f.awaitPolicy(ctx, "bridge", policySuccess)).To(Equal("1/2 nodes successfully configured, 1 not managed"))

		By("it runs again")
		tell(ctx, f, handler, corev1.ConditionTrue)
		Eventually(ctx, progresses).Should(Equal("Policy is progressing 1/2 nodes finished, 1 pending"))
	})
})

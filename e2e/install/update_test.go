package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
)

// kubelets stand for the scheduler and the kubelets of a cluster's nodes. Those of dead
// nodes do nothing.
type kubelets struct {
	*testing.T
	api  client.Client
	dead map[string]bool
}

// TestTheHandlersUpdateHasAWayOnWithDeadNodes: with more dead nodes than the update may have
// unavailable Kubernetes updates no living one. What docs/upgrade.md says to do then helps.
func TestTheHandlersUpdateHasAWayOnWithDeadNodes(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{Controllers: []string{"daemonset-controller"}})
	if !plane.HasGarbageCollector() {
		t.Skip("no kube-controller-manager, so no DaemonSet controller")
	}
	k := &kubelets{T: t, api: controlplanetest.Client(t, plane, client.Options{}), dead: map[string]bool{}}
	k.must(Apply(t.Context(), k.api, build(t, deploy)))
	const nodes, dead = 20, 4
	for i := range nodes {
		k.must(k.api.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("node%02d", i), Labels: map[string]string{corev1.LabelOSStable: "linux"},
		}}))
	}
	k.await("all nodes have a handler", func(set *appsv1.DaemonSet) bool { return set.Status.NumberReady == nodes })
	for i := range dead {
		k.die(fmt.Sprintf("node%02d", i))
	}
	k.await("some are dead", func(set *appsv1.DaemonSet) bool { return set.Status.NumberUnavailable == dead })

	k.patch(`{"spec": {"template": {"metadata": {"annotations": {"version": "new"}}}}}`)
	k.await("the handlers of the dead nodes are to end, and Kubernetes does no more", func(set *appsv1.DaemonSet) bool {
		return set.Status.ObservedGeneration == set.Generation && k.handlers("", true) == dead
	})
	if old := k.handlers("", false); old != nodes-dead {
		t.Errorf("%d of %d living nodes are not updated, although %d are dead: the guide is wrong", old, nodes-dead, dead)
	}
	page, err := os.ReadFile("../../docs/upgrade.md")
	k.must(err)
	patch := regexp.MustCompile(`patch ds/nmstate-handler --type merge -p '(.*)'`).FindSubmatch(page)
	if patch == nil {
		t.Fatal("docs/upgrade.md has no such command any more")
	}
	k.patch(string(patch[1]))
	k.await("all living nodes have the new handler", func(*appsv1.DaemonSet) bool { return k.handlers("new", false) == nodes-dead })
}

func (k *kubelets) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kubelets) set() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: "nmstate-handler"}}
}

func (k *kubelets) patch(patch string) {
	k.Helper()
	k.must(k.api.Patch(k.Context(), k.set(), client.RawPatch(types.MergePatchType, []byte(patch))))
}

func (k *kubelets) pods() []corev1.Pod {
	k.Helper()
	pods := &corev1.PodList{}
	k.must(k.api.List(k.Context(), pods, client.InNamespace("nmstate"), client.MatchingLabels{"app.kubernetes.io/name": "nmstate-handler"}))
	return pods.Items
}

// handlers of a version: those of dead nodes that nobody ends, or those that are Ready.
func (k *kubelets) handlers(version string, ofDead bool) (count int) {
	for _, pod := range k.pods() {
		ending := pod.DeletionTimestamp != nil
		if pod.Annotations["version"] == version && k.dead[pod.Spec.NodeName] == ofDead && ending == ofDead && isReady(&pod) != ofDead {
			count++
		}
	}
	return count
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// die ends a kubelet. That its pods are not Ready any more Kubernetes finds out.
func (k *kubelets) die(node string) {
	k.Helper()
	k.dead[node] = true
	for _, pod := range k.pods() {
		if pod.Spec.NodeName == node {
			k.must(k.tell(k.Context(), &pod, corev1.ConditionFalse))
		}
	}
}

func (k *kubelets) tell(ctx context.Context, pod *corev1.Pod, ready corev1.ConditionStatus) error {
	before := pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
	return k.api.Status().Patch(ctx, pod, client.MergeFrom(before))
}

// await does what scheduler and kubelets do until it is so.
func (k *kubelets) await(what string, so func(*appsv1.DaemonSet) bool) {
	k.Helper()
	controlplanetest.Eventually(k.T, func(ctx context.Context) error {
		var failed []error
		for _, pod := range k.pods() {
			failed = append(failed, client.IgnoreNotFound(k.run(ctx, &pod)))
		}
		set := k.set()
		if err := errors.Join(append(failed, k.api.Get(ctx, client.ObjectKeyFromObject(set), set))...); err != nil {
			return err
		}
		if !so(set) {
			return fmt.Errorf("not yet: %s: %+v", what, set.Status)
		}
		return nil
	})
}

func (k *kubelets) run(ctx context.Context, pod *corev1.Pod) error {
	node := pod.Spec.NodeName
	if node == "" {
		node = pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		return k.api.SubResource("binding").Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}})
	}
	switch {
	case k.dead[node]:
		return nil
	case pod.DeletionTimestamp != nil:
		return k.api.Delete(ctx, pod, client.GracePeriodSeconds(0))
	case !isReady(pod):
		return k.tell(ctx, pod, corev1.ConditionTrue)
	}
	return nil
}

package rollout

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// handlerPod of a node, as its kubelet tells of it.
func handlerPod(name, node string, ready corev1.ConditionStatus, since time.Time) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "nmstate", Name: name, UID: types.UID(name), Labels: handlerLabel},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "handler", Image: "handler"}}},
		Status: corev1.PodStatus{
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(since)}},
		},
	}
}

func TestAHandlerIsSilentForAsLongAsThisProcessSawIt(t *testing.T) {
	// again is Ready as well, since another time.
	const yes, no, again = corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionStatus("Ready again")
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	other := handlerPod("other", "node2", yes, then)
	crashing := handlerPod("a", "node1", no, then)
	crashing.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "handler", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
	evicted := handlerPod("a", "node1", no, then)
	evicted.Status.Reason = "Evicted"
	unscheduled := handlerPod("b", "", no, then)
	unscheduled.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"node1"}}}}},
	}}}
	dead := []corev1.Pod{handlerPod("a", "node1", no, then), other}
	type look struct {
		at   time.Duration
		pods []corev1.Pod
		want *plan.Silence
		node corev1.ConditionStatus
	}
	for sentence, looks := range map[string][]look{
		"one that runs is not": {{0, []corev1.Pod{handlerPod("a", "node1", yes, then), other}, nil, yes}},
		"where no handler has a pod nothing is known": {
			{0, nil, nil, yes}, {time.Hour, nil, nil, yes},
		},
		"a handler that ends again and again is, with the reason that the kubelet gives": {
			{time.Hour, []corev1.Pod{crashing, other}, &plan.Silence{For: 0, Cause: "pod a is not Ready (CrashLoopBackOff)"}, yes},
			{time.Hour + time.Minute, []corev1.Pod{crashing, other}, &plan.Silence{For: time.Minute, Cause: "pod a is not Ready (CrashLoopBackOff)"}, yes},
		},
		"a node without a pod is, where other nodes have one": {
			{0, []corev1.Pod{other}, &plan.Silence{For: 0, Cause: "it has no pod of the handler"}, yes},
			{time.Minute, []corev1.Pod{other}, &plan.Silence{For: time.Minute, Cause: "it has no pod of the handler"}, yes},
		},
		"another pod that does not run either changes nothing": {
			{0, []corev1.Pod{evicted, other}, &plan.Silence{For: 0, Cause: "pod a is not Ready (Evicted)"}, yes},
			{time.Minute, []corev1.Pod{other}, &plan.Silence{For: time.Minute, Cause: "it has no pod of the handler"}, yes},
			{2 * time.Minute, []corev1.Pod{unscheduled, other}, &plan.Silence{For: 2 * time.Minute, Cause: "pod b is not Ready"}, yes},
		},
		"of two pods in an update the one that runs counts": {
			{0, []corev1.Pod{crashing, handlerPod("b", "node1", yes, then), other}, nil, yes},
		},
		"one that ran in between begins again": {
			{0, []corev1.Pod{handlerPod("a", "node1", no, then), other}, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
			{time.Minute, []corev1.Pod{handlerPod("a", "node1", yes, then.Add(time.Second)), other}, nil, yes},
			{2 * time.Minute, []corev1.Pod{handlerPod("a", "node1", no, then.Add(2*time.Second)), other}, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
		},
		"one that ran in between, unseen, begins again": {
			{0, []corev1.Pod{handlerPod("a", "node1", no, then), other}, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
			{time.Minute, []corev1.Pod{handlerPod("a", "node1", no, then.Add(30*time.Second)), other}, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
		},
		"a machine that comes back has yet to start its handler": {
			{0, dead, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, no},
			{time.Minute, dead, &plan.Silence{For: time.Minute, Cause: "pod a is not Ready"}, no},
			{2 * time.Minute, dead, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
			{3 * time.Minute, dead, &plan.Silence{For: time.Minute, Cause: "pod a is not Ready"}, yes},
		},
		"a machine that went and came back, unseen, has yet to start its handler": {
			{0, dead, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
			{time.Minute, dead, &plan.Silence{For: time.Minute, Cause: "pod a is not Ready"}, yes},
			{2 * time.Minute, dead, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, again},
		},
		"a machine that goes after its handler changes nothing": {
			{0, dead, &plan.Silence{For: 0, Cause: "pod a is not Ready"}, yes},
			{time.Minute, dead, &plan.Silence{For: time.Minute, Cause: "pod a is not Ready"}, no},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			seen := silences{}
			for _, l := range looks {
				ready := corev1.NodeCondition{Type: corev1.NodeReady, Status: l.node}
				if l.node == again {
					ready.Status, ready.LastTransitionTime = yes, metav1.NewTime(then)
				}
				nodes := []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "node1"}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{ready}}}}
				if diff := cmp.Diff(l.want, seen.observe(nodes, l.pods, l.at)["node1"]); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", l.at, diff)
				}
			}
		})
	}
}

// TestAHandlerThatDiedStopsNobody: from the pod that a kubelet tells of, by the watch and
// the cache's view of it, to the grant of another node.
func TestAHandlerThatDiedStopsNobody(t *testing.T) {
	s := newStage(t, 1, on{name: "a"}, on{name: "b"})
	s.restart("nmstate")
	set := func(pod corev1.Pod) {
		t.Helper()
		_ = s.api.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
		kept, err := CachedPods("nmstate").Transform(&pod)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.api.Create(t.Context(), kept.(client.Object)); err != nil {
			t.Fatal(err)
		}
	}
	runs, died := handlerPod("x", "a", corev1.ConditionTrue, s.clock.Now()), handlerPod("x", "a", corev1.ConditionFalse, s.clock.Now().Add(time.Second))
	set(handlerPod("y", "b", corev1.ConditionTrue, s.clock.Now()))
	set(runs)
	s.expect([]string{`a.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	s.report("a", v1.EnactmentProgressing)

	if !podChanges().Update(event.UpdateEvent{ObjectOld: &runs, ObjectNew: &died}) || podChanges().Update(event.UpdateEvent{ObjectOld: &died, ObjectNew: &died}) {
		t.Error("a turn is asked for when a handler ends, and not when its pod is told of again")
	}
	if asked := s.reconciler.policiesOfPod(context.Background(), &died); len(asked) != 1 || asked[0].Name != "p" {
		t.Errorf("the pod asks for turns of %v", asked)
	}
	set(died)
	s.clock.Step(time.Minute)
	s.expect(nil, plan.DefaultGrace)
	s.clock.Step(plan.DefaultGrace)
	s.expect([]string{`b.p {"spec":{"approvedGeneration":3}}`, "p status"}, 0)
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := s.api.Get(t.Context(), client.ObjectKey{Name: "p"}, policy); err != nil {
		t.Fatal(err)
	}
	if want := "a: no handler runs there, in the middle of generation 3: pod x is not Ready"; policy.Status.Message != want {
		t.Errorf("status.message %q, want %q", policy.Status.Message, want)
	}

	t.Log("it comes back, and goes on with what it was granted")
	set(handlerPod("x", "a", corev1.ConditionTrue, s.clock.Now()))
	s.clock.Step(statusPause)
	s.expect([]string{"p status"}, 0)
}

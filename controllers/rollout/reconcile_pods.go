package rollout

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// handlerLabel is what the DaemonSet in deploy/handler selects its pods by.
var handlerLabel = map[string]string{"app.kubernetes.io/name": "nmstate-handler"}

// CachedPods keeps of the handlers' pods in a namespace where each is, and whether it
// is Ready or why not.
func CachedPods(namespace string) cache.ByObject {
	return cache.ByObject{
		Namespaces: map[string]cache.Config{namespace: {LabelSelector: labels.SelectorFromSet(handlerLabel)}},
		Transform: func(object any) (any, error) {
			if pod, ok := object.(*corev1.Pod); ok {
				pod.ManagedFields, pod.Annotations = nil, nil
				pod.Spec = corev1.PodSpec{NodeName: pod.Spec.NodeName, Affinity: pod.Spec.Affinity}
				pod.Status = readyPodOnly(&pod.Status)
			}
			return object, nil
		},
	}
}

func readyPodOnly(status *corev1.PodStatus) corev1.PodStatus {
	kept := corev1.PodStatus{Reason: status.Reason}
	for _, condition := range status.Conditions {
		if condition.Type == corev1.PodReady {
			kept.Conditions = []corev1.PodCondition{{Type: condition.Type, Status: condition.Status, LastTransitionTime: condition.LastTransitionTime}}
		}
	}
	for _, container := range status.ContainerStatuses {
		if waiting := container.State.Waiting; waiting != nil {
			kept.ContainerStatuses = append(kept.ContainerStatuses, corev1.ContainerStatus{
				Name: container.Name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: waiting.Reason}},
			})
		}
	}
	return kept
}

// podWatch asks for turns when a node's handler begins to run, or runs no more.
func (r *Reconciler) podWatch() watch.Watch {
	return watch.Watch{Object: &corev1.Pod{}, Predicate: podChanges(), Handler: handler.EnqueueRequestsFromMapFunc(r.policiesOfPod)}
}

func podChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*corev1.Pod)
		after, okAfter := e.ObjectNew.(*corev1.Pod)
		return !okBefore || !okAfter || isPodReady(before) != isPodReady(after)
	}}
}

func (r *Reconciler) policiesOfPod(ctx context.Context, object client.Object) []reconcile.Request {
	pod, is := object.(*corev1.Pod)
	if !is {
		return nil
	}
	node := &corev1.Node{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: nodeOfPod(pod)}, node); err != nil {
		if client.IgnoreNotFound(err) != nil {
			log.FromContext(ctx).Error(err, "Reading the node of a handler's pod", "pod", pod.Name)
		}
		return nil // The Node's own event comes, or has come.
	}
	return r.policiesFor(ctx, node)
}

// nodeOfPod is the node that a DaemonSet made the pod for, scheduled or not.
func nodeOfPod(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

func isPodReady(pod *corev1.Pod) bool {
	ready := podReady(pod)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

func podReady(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if condition := &pod.Status.Conditions[i]; condition.Type == corev1.PodReady {
			return condition
		}
	}
	return nil
}

// whyNotReady is what a person finds in the pod, too.
func whyNotReady(pod *corev1.Pod) string {
	reason := pod.Status.Reason
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Waiting != nil {
			reason = cmp.Or(reason, container.State.Waiting.Reason)
		}
	}
	if reason != "" {
		return fmt.Sprintf("pod %s is not Ready (%s)", pod.Name, reason)
	}
	return fmt.Sprintf("pod %s is not Ready", pod.Name)
}

// silences remembers since when nodes have had no handler that runs, as this process
// saw it.
type silences struct {
	mu    sync.Mutex
	since map[string]silence
}

// silence is a time in which no pod of a node's handler is Ready. It outlasts the pods:
// a DaemonSet makes another one for one that failed. A machine that comes back has yet
// to start its handler: then the time begins anew.
type silence struct {
	pod        types.UID
	transition time.Time
	nodeReady  bool
	nodeSince  time.Time     // the node's own transition
	began      time.Duration // in the run of this process
}

// observe takes in all handlers' pods as they are now, and tells of the nodes on which
// none is Ready. Where there is not one pod the handlers run in another way, and nothing
// is known of them.
func (s *silences) observe(nodes []corev1.Node, pods []corev1.Pod, running time.Duration) map[string]*plan.Silence {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(pods) == 0 {
		s.since = nil
		return nil
	}
	of := make(map[string]*corev1.Pod, len(pods))
	for i := range pods {
		pod, node := &pods[i], nodeOfPod(&pods[i])
		// In an update the old one and the new one may both be there.
		if other := of[node]; other == nil || !isPodReady(other) && (isPodReady(pod) || pod.Name < other.Name) {
			of[node] = pod
		}
	}
	since, told := map[string]silence{}, map[string]*plan.Silence{}
	for i := range nodes {
		node := nodes[i].Name
		pod := of[node]
		if pod != nil && isPodReady(pod) {
			continue
		}
		seen, before := s.since[node]
		now := silence{began: running, nodeReady: isReady(&nodes[i]), nodeSince: readySince(&nodes[i])}
		cause := "it has no pod of the handler"
		if pod != nil {
			now.pod, cause = pod.UID, whyNotReady(pod)
			if ready := podReady(pod); ready != nil {
				now.transition = ready.LastTransitionTime.Time
			}
		}
		wasReady := seen.pod == now.pod && !seen.transition.IsZero() && !seen.transition.Equal(now.transition)
		cameBack := now.nodeReady && (!seen.nodeReady || !seen.nodeSince.Equal(now.nodeSince))
		if before && !wasReady && !cameBack {
			now.began = seen.began
		}
		since[node], told[node] = now, &plan.Silence{For: running - now.began, Cause: cause}
	}
	s.since = since
	return told
}

// silentNodes are those on which no handler runs.
func (r *Reconciler) silentNodes(ctx context.Context, nodes []corev1.Node) (map[string]*plan.Silence, error) {
	if r.handlers == "" {
		return nil, nil
	}
	pods := &corev1.PodList{}
	if err := r.client.List(ctx, pods, client.InNamespace(r.handlers), client.MatchingLabels(handlerLabel), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the handlers' pods: %w", err)
	}
	return r.silent.observe(nodes, pods.Items, r.clock.Running()), nil
}

package policy

import (
	"bytes"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

const (
	firstErrorRetry = 50 * time.Millisecond
	// lastErrorRetry is short: after an outage of the API server nodes shall
	// not stay away for many minutes.
	lastErrorRetry = 30 * time.Second
)

// workers is how many nodes one instance works for at once: a turn mostly waits
// for the API server. Turns for the same node never overlap.
const workers = 16

// CacheOptions keeps of a cluster what concerns one node, and all policies:
// the node itself, its NodeNetworkState and its enactments. For an empty name
// it keeps those of all nodes, and of each Node what a decision reads.
func CacheOptions(node string) cache.Options {
	options := cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	if node == "" {
		options.ByObject = map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: withoutLoad}}
		return options
	}
	named := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", node)}
	options.ByObject = map[client.Object]cache.ByObject{
		&corev1.Node{}:         named,
		&v1.NodeNetworkState{}: named,
		&v1.NodeNetworkConfigurationEnactment{}: {
			Label: labels.SelectorFromSet(labels.Set{v1.EnactmentNodeLabel: desired.NodeLabel(node)}),
		},
	}
	return options
}

// withoutLoad leaves of a Node's status whether it is Ready, and since when: the rest, images
// above all, is many times as large as what is needed.
func withoutLoad(object any) (any, error) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return object, nil
	}
	var ready []corev1.NodeCondition
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			ready = append(ready, corev1.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	node.ManagedFields, node.Status = nil, corev1.NodeStatus{Conditions: ready}
	return node, nil
}

// SetupWithManager makes the manager call Reconcile for a node whenever
// something changed that a decision about it depends on. The manager must not
// run yet.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := r.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	return r.Controller().Complete(mgr, r)
}

// Controller is when the policy handler takes its turns.
func (r *Reconciler) Controller() watch.Controller {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstErrorRetry, lastErrorRetry)
	return watch.Controller{
		Name: "policy", Options: controller.Options{RateLimiter: limiter, MaxConcurrentReconciles: r.workers()},
		Watches: []watch.Watch{
			{Object: &corev1.Node{}, Predicate: nodeChanged(), Handler: &handler.EnqueueRequestForObject{}},
			{Object: &v1.NodeNetworkState{}, Predicate: r.stateChanged(), Handler: &handler.EnqueueRequestForObject{}},
			{Object: &v1.NodeNetworkConfigurationEnactment{}, Predicate: predicate.GenerationChangedPredicate{}, Handler: handler.EnqueueRequestsFromMapFunc(nodeOfEnactment)},
			{Object: &v1.NodeNetworkConfigurationPolicy{}, Predicate: policyChanged(), Handler: listening{handler.EnqueueRequestsFromMapFunc(r.nodesOfPolicy), &r.gone}},
		},
	}
}

func (r *Reconciler) workers() int {
	if r.Node != "" {
		return 1
	}
	return workers
}

// policyChanged: the spec, a person's confirmation of it, and what its rollout
// waits for.
func policyChanged() predicate.Predicate {
	return predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1.NodeNetworkConfigurationPolicy), e.ObjectNew.(*v1.NodeNetworkConfigurationPolicy)
		return before.Annotations[v1.ConfirmAnnotation] != after.Annotations[v1.ConfirmAnnotation] ||
			desired.HoldOf(before) != desired.HoldOf(after)
	}})
}

// nodeChanged: policies select by labels and taints, and their variables have
// values from labels and annotations. Nothing else of a Node matters, least of
// all its heartbeats.
func nodeChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*corev1.Node), e.ObjectNew.(*corev1.Node)
		return !equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
			!equality.Semantic.DeepEqual(before.Annotations, after.Annotations) ||
			!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
	}}
}

// stateChanged: the spec, the outcome of a transaction, and that there is a
// report at all; what the report says matters only while a policy on the node
// selects nothing from it, waits for something in it, or is planned by it.
func (r *Reconciler) stateChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1.NodeNetworkState), e.ObjectNew.(*v1.NodeNetworkState)
		return before.Generation != after.Generation ||
			!equality.Semantic.DeepEqual(outcome(before), outcome(after)) ||
			(r.readsReports(after.Name) && reportChanged(&before.Status, &after.Status))
	}}
}

// reportChanged tells of a change also in what the report leaves out, and in what an
// undo brings back.
func reportChanged(before, after *v1.NodeNetworkStateStatus) bool {
	return !bytes.Equal(before.CurrentState.Raw, after.CurrentState.Raw) || !equality.Semantic.DeepEqual(before.Truncated, after.Truncated) ||
		!equality.Semantic.DeepEqual(before.Before, after.Before)
}

func outcome(nns *v1.NodeNetworkState) v1.NodeNetworkStateStatus {
	status := v1.NodeNetworkStateStatus{
		ObservedGeneration: nns.Status.ObservedGeneration,
		AppliedSources:     nns.Status.AppliedSources,
		Transaction:        nns.Status.Transaction,
		// What bridges can do decides how policies come out.
		BridgeVLANFiltering: nns.Status.BridgeVLANFiltering,
		// What the kernel cannot do, no attempt is made at.
		Capabilities: nns.Status.Capabilities,
		SecretsKey:   nns.Status.SecretsKey,
	}
	for _, d := range nns.Status.Drift {
		status.Drift = append(status.Drift, v1.Drift{Path: d.Path, Policy: d.Policy, Expected: d.Expected, Action: d.Action})
	}
	if !nns.Status.CurrentState.IsZero() {
		status.CurrentState = v1.NewState([]byte("{}"))
	}
	return status
}

func nodeOfEnactment(_ context.Context, object client.Object) []reconcile.Request {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Node" {
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: owner.Name}}}
		}
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: object.GetLabels()[v1.EnactmentNodeLabel]}}}
}

// nodesOfPolicy are the nodes that the policy selects. Of an update it is asked
// for the policy as it was and as it is, and each node hears of it once: one
// that is no longer selected has to know as well.
func (r *Reconciler) nodesOfPolicy(ctx context.Context, object client.Object) []reconcile.Request {
	if r.Node != "" {
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: r.Node}}}
	}
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing nodes for a policy")
		return nil
	}
	spec := object.(*v1.NodeNetworkConfigurationPolicy)
	var requests []reconcile.Request
	for i := range nodes.Items {
		// An affinity that cannot be read selects no node.
		if selects, _ := desired.Selects(spec, &nodes.Items[i]); selects {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: nodes.Items[i].Name}})
		}
	}
	return requests
}

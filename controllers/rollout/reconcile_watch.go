package rollout

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// reconcileTimeout is what one plan may take to be written, thousands of grants
// included. When the cache does not show our own writes by then it is tried anew.
const reconcileTimeout = 5 * time.Minute

// SetupWithManager starts the reconciler with the manager: for each policy,
// when the policy, one of its enactments, or a node that it selects changes in
// something that a plan depends on, and when a node is deleted.
// The manager must not run yet.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	if err := r.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	return r.Controller().Complete(mgr, r)
}

// Controller is when the rollout controller takes its turns.
func (r *Reconciler) Controller() watch.Controller {
	c := watch.Controller{
		Name: "rollout", Options: controller.Options{ReconciliationTimeout: reconcileTimeout},
		Watches: []watch.Watch{
			{Object: &v1.NodeNetworkConfigurationPolicy{}, Predicate: predicate.GenerationChangedPredicate{}, Handler: &handler.EnqueueRequestForObject{}},
			{Object: &v1.NodeNetworkConfigurationEnactment{}, Predicate: enactmentChanges(), Handler: handler.EnqueueRequestsFromMapFunc(r.policiesOfEnactment)},
			{Object: &corev1.Node{}, Predicate: nodeChanges(), Handler: r.turnsOfNodes()},
			{Object: stateMetadata(), Predicate: stateChanges(), Handler: r.turnsOfStates()},
		},
	}
	if r.handlers != "" {
		c.Watches = append(c.Watches, r.podWatch())
	}
	return c
}

// Cached keeps out of the manager's cache what no plan reads: an enactment
// carries its rendered state, a node its images.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1.NodeNetworkConfigurationEnactment{}: {Transform: func(object any) (any, error) {
			if e, ok := object.(*v1.NodeNetworkConfigurationEnactment); ok {
				e.ManagedFields = nil
				e.Status = keptOfStatus(e.Status)
			}
			return object, nil
		}},
		&corev1.Node{}: {Transform: func(object any) (any, error) {
			if node, ok := object.(*corev1.Node); ok {
				node.ManagedFields, node.Annotations = nil, nil
				node.Status = corev1.NodeStatus{Conditions: readyOnly(node.Status.Conditions)}
			}
			return object, nil
		}},
		stateMetadata(): {Transform: func(object any) (any, error) {
			if state, ok := object.(*metav1.PartialObjectMetadata); ok {
				state.ManagedFields, state.Annotations, state.Labels, state.OwnerReferences = nil, nil, nil, nil
			}
			return object, nil
		}},
	}
}

// keptOfStatus is what a plan reads of an enactment's status, and what else is read from
// the same cache.
func keptOfStatus(status v1.NodeNetworkConfigurationEnactmentStatus) v1.NodeNetworkConfigurationEnactmentStatus {
	kept := plan.Reads(status)
	kept.Features = status.Features     // For the metrics.
	kept.SecretsKey = status.SecretsKey // For controllers/secrets.
	return kept
}

func readyOnly(conditions []corev1.NodeCondition) []corev1.NodeCondition {
	ready := nodeReady(conditions)
	if ready == nil {
		return nil
	}
	return []corev1.NodeCondition{{Type: ready.Type, Status: ready.Status, LastTransitionTime: ready.LastTransitionTime}}
}

// stateMetadata is a NodeNetworkState of which only the metadata is asked for: a
// report is large, and whether there is one is all that a plan wants to know.
func stateMetadata() *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind("NodeNetworkState"))
	return object
}

// stateChanges lets through that a node's first report is there, or is gone.
func stateChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
}

// turnsOfStates forgets that there was a NodeNetworkState when the last one goes, with its
// node mostly: the next one is the first of the cluster again.
func (r *Reconciler) turnsOfStates() handler.EventHandler {
	changed := handler.EnqueueRequestsFromMapFunc(r.policiesOfState)
	gone := func(ctx context.Context, e event.DeleteEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		changed.Delete(ctx, e, queue)
		if left, err := r.reported(ctx, &plan.Input{}); err != nil {
			log.FromContext(ctx).Error(err, "Looking whether any node has a handler still")
		} else if len(left) == 0 {
			r.installed.Store(false)
		}
	}
	return handler.Funcs{CreateFunc: changed.Create, UpdateFunc: changed.Update, DeleteFunc: gone, GenericFunc: changed.Generic}
}

// policiesOfState are the policies that select the node of a NodeNetworkState. The first
// one that this process hears of may be the first of the cluster: from then on each policy
// waits for the handlers of its own nodes for so long and no longer (plan.Input.Installed).
func (r *Reconciler) policiesOfState(ctx context.Context, state client.Object) []reconcile.Request {
	if !r.installed.Swap(true) {
		return r.policiesThat(ctx, state, func(*v1.NodeNetworkConfigurationPolicy) bool { return true })
	}
	node := &corev1.Node{}
	if err := r.client.Get(ctx, client.ObjectKey{Name: state.GetName()}, node); err != nil {
		if client.IgnoreNotFound(err) != nil {
			log.FromContext(ctx).Error(err, "Reading the node of a NodeNetworkState", "node", state.GetName())
		}
		return nil // The Node's own event comes, or has come.
	}
	return r.policiesFor(ctx, node)
}

// policiesOfEnactment are its own and, where it is of a node of the control plane, those
// that wait: it may be for that node.
func (r *Reconciler) policiesOfEnactment(ctx context.Context, enactment client.Object) []reconcile.Request {
	node := &corev1.Node{}
	err := r.client.Get(ctx, client.ObjectKey{Name: enactment.(*v1.NodeNetworkConfigurationEnactment).Node()}, node)
	switch {
	case err == nil && isControlPlane(node): // Its own policy may be none that there is.
		return slices.Concat(policyOf(ctx, enactment), r.policiesThat(ctx, node, waits), r.policiesThatLeave(ctx, node))
	case client.IgnoreNotFound(err) != nil:
		log.FromContext(ctx).Error(err, "Reading the node of an enactment", "enactment", enactment.GetName())
	}
	return policyOf(ctx, enactment)
}

// waits tells whether nodes of the policy have not begun, as far as its status tells.
func waits(policy *v1.NodeNetworkConfigurationPolicy) bool {
	return policy.Status.Counts.Pending > 0 || policy.Status.ObservedGeneration != policy.Generation
}

func policyOf(_ context.Context, enactment client.Object) []reconcile.Request {
	name := enactment.GetLabels()[v1.EnactmentPolicyLabel]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: name}}}
}

// turnsOfNodes asks for every policy when a node is deleted: one that does not
// select it any more may still be leaving it, and its enactment is an orphan then.
func (r *Reconciler) turnsOfNodes() handler.EventHandler {
	changed := handler.EnqueueRequestsFromMapFunc(r.policiesFor)
	gone := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, node client.Object) []reconcile.Request {
		return r.policiesThat(ctx, node, func(*v1.NodeNetworkConfigurationPolicy) bool { return true })
	})
	return handler.Funcs{CreateFunc: changed.Create, UpdateFunc: changed.Update, DeleteFunc: gone.Delete, GenericFunc: changed.Generic}
}

// policiesFor are the policies that select the node, those that leave it and, of a node of
// the control plane, those that wait: it may be for this one. On an update it is asked for
// the node as it was and as it is.
func (r *Reconciler) policiesFor(ctx context.Context, node client.Object) []reconcile.Request {
	leave := r.policiesThatLeave(ctx, node.(*corev1.Node))
	return append(leave, r.policiesThat(ctx, node, func(policy *v1.NodeNetworkConfigurationPolicy) bool {
		selects, err := desired.Selects(policy, node.(*corev1.Node))
		return selects || err != nil || isControlPlane(node) && waits(policy)
	})...)
}

func (r *Reconciler) policiesThat(ctx context.Context, node client.Object, concern func(*v1.NodeNetworkConfigurationPolicy) bool) []reconcile.Request {
	policies := &v1.NodeNetworkConfigurationPolicyList{}
	if err := r.client.List(ctx, policies, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "Listing the policies of a changed node", "node", node.GetName())
		return nil
	}
	var requests []reconcile.Request
	for i := range policies.Items {
		if policy := &policies.Items[i]; concern(policy) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: policy.Name}})
		}
	}
	return requests
}

// enactmentChanges lets through what a plan reads of an enactment.
func enactmentChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*v1.NodeNetworkConfigurationEnactment)
		after, okAfter := e.ObjectNew.(*v1.NodeNetworkConfigurationEnactment)
		return !okBefore || !okAfter || !plan.ReadsAlike(before, after)
	}}
}

// nodeChanges lets through what selects a node, and whether it is Ready. The
// heartbeat of a node's kubelet is none of it.
func nodeChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, okBefore := e.ObjectOld.(*corev1.Node)
		after, okAfter := e.ObjectNew.(*corev1.Node)
		return !okBefore || !okAfter || isReady(before) != isReady(after) ||
			!maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints)
	}}
}

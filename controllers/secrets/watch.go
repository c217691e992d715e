package secrets

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// Controller is when the reconciler takes its turns: when a node asks for Secrets, when
// its policy names others, and when a Secret is written.
func (r *Reconciler) Controller() watch.Controller {
	watches := []watch.Watch{
		{Object: &v1.NodeNetworkConfigurationEnactment{}, Predicate: asks(), Handler: &handler.EnqueueRequestForObject{}},
		{
			Object: &v1.NodeNetworkConfigurationPolicy{}, Predicate: predicate.GenerationChangedPredicate{},
			Handler: handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, policy client.Object) []reconcile.Request {
				return r.enactments(ctx, concerns, client.MatchingLabels{v1.EnactmentPolicyLabel: policy.GetName()})
			}),
		},
	}
	if r.namespace != "" {
		watches = append(watches, watch.Watch{
			Object: &corev1.Secret{}, Predicate: predicate.ResourceVersionChangedPredicate{},
			Handler: handler.EnqueueRequestsFromMapFunc(r.enactmentsOf),
		})
	}
	return watch.Controller{Name: "secrets", Watches: watches}
}

// asks lets through what concerns Secrets of an enactment.
func asks() predicate.Predicate {
	is := func(object client.Object) bool {
		enactment, ok := object.(*v1.NodeNetworkConfigurationEnactment)
		return ok && concerns(enactment)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return is(e.Object) },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, okBefore := e.ObjectOld.(*v1.NodeNetworkConfigurationEnactment)
			after, okAfter := e.ObjectNew.(*v1.NodeNetworkConfigurationEnactment)
			return !okBefore || !okAfter || before.Status.SecretsKey != after.Status.SecretsKey || !slices.Equal(before.Spec.Secrets, after.Spec.Secrets)
		},
	}
}

// enactmentsOf are those that have, or wait for, something of a Secret.
func (r *Reconciler) enactmentsOf(ctx context.Context, written client.Object) []reconcile.Request {
	return r.enactments(ctx, func(enactment *v1.NodeNetworkConfigurationEnactment) bool {
		return slices.ContainsFunc(enactment.Spec.Secrets, func(s v1.SealedSecret) bool { return s.Name == written.GetName() })
	})
}

func (r *Reconciler) enactments(ctx context.Context, concern func(*v1.NodeNetworkConfigurationEnactment) bool, of ...client.ListOption) []reconcile.Request {
	list := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.client.List(ctx, list, append(of, client.UnsafeDisableDeepCopy)...); err != nil {
		log.FromContext(ctx).Error(err, "Listing the enactments that have Secrets")
		return nil
	}
	var requests []reconcile.Request
	for i := range list.Items {
		if enactment := &list.Items[i]; concern(enactment) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: enactment.Name}})
		}
	}
	return requests
}

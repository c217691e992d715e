package agent

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

const (
	firstErrorRetry = 50 * time.Millisecond
	// lastErrorRetry is short: after an outage of the API server, however long,
	// the outcome of what happened meanwhile is told soon.
	lastErrorRetry = 10 * time.Second
)

// SetupWithManager makes the manager call Reconcile for this node's
// NodeNetworkState, and whenever something happened on the node.
func (a *Agent) SetupWithManager(mgr ctrl.Manager) error {
	if err := a.Controller().Complete(mgr, a, source.Channel(a.manager, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	a.poke() // The first turn makes the NodeNetworkState where there is none to be watched.
	return nil
}

// Controller is when the state handler takes its turns, beside what happens on
// the node.
func (a *Agent) Controller() watch.Controller {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstErrorRetry, lastErrorRetry)
	return watch.Controller{
		Name: "state", Options: controller.Options{RateLimiter: limiter},
		Watches: []watch.Watch{{Object: &v1.NodeNetworkState{}, Predicate: a.ofThisNode(), Handler: &handler.EnqueueRequestForObject{}}},
	}
}

// ofThisNode leaves out what our own reports cause: only the spec, the labels,
// a confirmation and a deletion matter.
func (a *Agent) ofThisNode() predicate.Predicate {
	ours := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == a.Node })
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, confirmationChanged())
	notUpdate := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	return predicate.And(ours, predicate.Or(changed, notUpdate))
}

package watch

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Watch is one kind of object whose changes may ask for turns.
type Watch struct {
	// Object is of the kind.
	Object client.Object
	// Predicate lets the changes through that matter, of an object that stays the
	// same one.
	Predicate predicate.Predicate
	// Handler asks for the turns.
	Handler handler.EventHandler
}

// Passes is the predicate that a manager takes. An object that was deleted and made
// again while the watch was broken comes as an update, with the generation of the
// one before it: whatever it says, it is another one.
func (w Watch) Passes() predicate.Predicate {
	return predicate.Or(w.Predicate, Another)
}

// Another lets through the update that is another object of the same name.
var Another = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	DeleteFunc:  func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc:  func(e event.UpdateEvent) bool { return e.ObjectOld.GetUID() != e.ObjectNew.GetUID() },
}

// Controller is when a reconciler takes turns, and how many at once.
type Controller struct {
	// Name, for metrics and logs.
	Name    string
	Options controller.Options
	Watches []Watch
}

// Complete makes the manager give the reconciler its turns, and for what comes
// from the sources as well.
func (c Controller) Complete(mgr ctrl.Manager, reconciler reconcile.Reconciler, sources ...source.Source) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(c.Name).WithOptions(c.Options)
	for _, w := range c.Watches {
		b = b.Watches(w.Object, w.Handler, builder.WithPredicates(w.Passes()))
	}
	for _, s := range sources {
		b = b.WatchesRawSource(s)
	}
	if err := b.Complete(reconciler); err != nil {
		return fmt.Errorf("setting up the controller %s: %w", c.Name, err)
	}
	return nil
}

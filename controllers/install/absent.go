package install

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

const message = "No operator installs by this object: kubectl apply -k deploy/operator starts one. What runs here was installed without, with kubectl apply -k deploy or a chart"

// Absent answers NMState objects where no operator does.
type Absent struct {
	client client.Client
	clock  clock.PassiveClock
}

// NewAbsent returns an Absent.
func NewAbsent(client client.Client, clock clock.PassiveClock) *Absent {
	return &Absent{client: client, clock: clock}
}

// SetupWithManager starts the reconciler with the manager.
func (r *Absent) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("install").
		For(&v1.NMState{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, watch.Another))).
		Complete(r)
}

// Reconcile answers one NMState, once for each generation.
func (r *Absent) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &v1.NMState{}
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if answered(object) || !object.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	status, _ := Status(object, Verdict{Reason: ReasonNotSupported, Message: message}, r.clock.Now())
	return reconcile.Result{}, writeStatus(ctx, r.client, object, status)
}

// writeStatus writes what is not there yet.
func writeStatus(ctx context.Context, c client.Client, object *v1.NMState, status v1.NMStateStatus) error {
	if equality.Semantic.DeepEqual(object.Status, status) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	target := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: object.Name}}
	err = c.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status of NMState %s: %w", object.Name, err)
	}
	return nil
}

// answered: this program's answer stands for this generation. An upgrade that
// answers differently writes anew.
func answered(object *v1.NMState) bool {
	degraded := v1.FindCondition(object.Status.Conditions, v1.PolicyDegraded)
	return degraded != nil && object.Status.ObservedGeneration == object.Generation && degraded.Message == message
}

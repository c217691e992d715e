package install

import (
	"context"
	"encoding/json"
	"fmt"

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

const (
	reasonNotSupported v1.ConditionReason = "NotSupported"
	message                               = "Installing by an NMState object comes with a later release and this one has no effect; " +
		"install with: kubectl apply -k deploy"
)

// Reconciler writes the status of NMState objects.
type Reconciler struct {
	client client.Client
	clock  clock.PassiveClock
}

// New returns a Reconciler.
func New(client client.Client, clock clock.PassiveClock) *Reconciler {
	return &Reconciler{client: client, clock: clock}
}

// SetupWithManager starts the reconciler with the manager.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("install").
		For(&v1.NMState{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, watch.Another))).
		Complete(r)
}

// Reconcile answers one NMState, once for each generation.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := &v1.NMState{}
	if err := r.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if answered(object) || !object.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	patch, err := json.Marshal(map[string]any{"status": r.answer(object)})
	if err != nil {
		return reconcile.Result{}, err
	}
	target := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: object.Name}}
	err = r.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("writing the status of NMState %s: %w", object.Name, err)
	}
	return reconcile.Result{}, nil
}

// answered: this program's answer stands for this generation. An upgrade that
// answers differently writes anew.
func answered(object *v1.NMState) bool {
	for _, condition := range object.Status.Conditions {
		if condition.Type == v1.PolicyDegraded {
			return object.Status.ObservedGeneration == object.Generation && condition.Message == message
		}
	}
	return false
}

func (r *Reconciler) answer(object *v1.NMState) v1.NMStateStatus {
	now := metav1.NewTime(r.clock.Now())
	condition := func(conditionType v1.ConditionType, status metav1.ConditionStatus, text string) v1.Condition {
		c := v1.Condition{
			Type: conditionType, Status: status, Reason: reasonNotSupported, Message: text,
			ObservedGeneration: object.Generation, LastHeartbeatTime: now, LastTransitionTime: now,
		}
		for _, before := range object.Status.Conditions {
			if before.Type == conditionType && before.Status == status {
				c.LastTransitionTime = before.LastTransitionTime
			}
		}
		return c
	}
	return v1.NMStateStatus{
		ObservedGeneration: object.Generation,
		Conditions: []v1.Condition{
			condition(v1.PolicyAvailable, metav1.ConditionFalse, ""),
			condition(v1.PolicyProgressing, metav1.ConditionFalse, ""),
			condition(v1.PolicyDegraded, metav1.ConditionTrue, message),
		},
	}
}

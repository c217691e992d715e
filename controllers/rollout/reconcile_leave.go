package rollout

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// gone lets a policy that is gone leave its nodes by turns, and removes what nobody will.
func (r *Reconciler) gone(ctx context.Context, name string, in plan.Input) (reconcile.Result, error) {
	again, err := r.removeGhosts(ctx, name)
	if err != nil || !slices.ContainsFunc(in.Enactments, waitsToLeave) {
		return reconcile.Result{RequeueAfter: again}, err
	}
	if behind, err := r.behind(ctx, leaving(name), name, in.Enactments); behind || err != nil {
		return reconcile.Result{RequeueAfter: staleRetry}, err
	}
	out := plan.Leave(in)
	logDecision(ctx, out)
	err = r.writeSpecs(ctx, name, in, out)
	again = soonest(again, out.RequeueAfter)
	if len(in.Unsure) > 0 {
		again = soonest(again, unsureFor)
	}
	return reconcile.Result{RequeueAfter: again}, err
}

func waitsToLeave(enactment v1.NodeNetworkConfigurationEnactment) bool {
	return enactment.Status.WaitsToLeave && !enactment.Spec.Leave
}

// leaving stands for a policy that is gone, whose UID nobody knows any more.
func leaving(policy string) types.UID { return types.UID("leaving/" + policy) }

// soonest of two times to look again, of which 0 is never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

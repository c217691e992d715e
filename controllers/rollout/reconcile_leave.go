package rollout

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
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

// policiesThatLeave are those that leave the node, or wait to, and of a node of the control
// plane also those that leave another one of it: that may be what they wait for.
func (r *Reconciler) policiesThatLeave(ctx context.Context, node *corev1.Node) []reconcile.Request {
	nodes := []corev1.Node{*node}
	if isControlPlane(node) {
		all := &corev1.NodeList{}
		if err := r.client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "Listing the nodes of the control plane")
		}
		for i := range all.Items {
			if isControlPlane(&all.Items[i]) {
				nodes = append(nodes, all.Items[i])
			}
		}
	}
	var requests []reconcile.Request
	for i := range nodes {
		enactments := &v1.NodeNetworkConfigurationEnactmentList{}
		if err := r.client.List(ctx, enactments, r.ofNode(nodes[i].Name), client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "Listing the enactments of a node", "node", nodes[i].Name)
		}
		for j := range enactments.Items {
			if e := &enactments.Items[j]; e.Status.WaitsToLeave || e.Spec.Leave {
				requests = append(requests, policyOf(ctx, e)...)
			}
		}
	}
	return requests
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

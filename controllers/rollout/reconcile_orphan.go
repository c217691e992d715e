package rollout

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// removeOrphans deletes the enactments of nodes that are gone. The garbage
// collector leaves them: they are owned by the policy as well. A node that only
// our cache does not know yet is asked for at the API server.
func (r *Reconciler) removeOrphans(ctx context.Context, in plan.Input) error {
	known := make(map[string]bool, len(in.Nodes))
	for _, node := range in.Nodes {
		known[node.Name] = true
	}
	for i := range in.Enactments {
		enactment := &in.Enactments[i]
		name := enactment.Node()
		if known[name] || !enactment.DeletionTimestamp.IsZero() {
			continue
		}
		err := r.live.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{})
		if err == nil {
			continue
		}
		if !apierrors.IsNotFound(err) {
			return fmt.Errorf("looking for node %s: %w", name, err)
		}
		if err := r.remove(ctx, enactment, client.Preconditions{UID: &enactment.UID}); err != nil && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting enactment %s, whose node is gone: %w", enactment.Name, err)
		}
	}
	return nil
}

// ghostAge is how long an enactment of a policy that there is not is left alone.
const ghostAge = time.Minute

// removeGhosts deletes the enactments of a policy that there is not, and returns when to
// look again. A handler deletes its own; whoever has its token may make any number of
// them, and leave them. One that was ever granted stays: what its node has of the policy
// is written in it, and a node that was away takes that back when it returns.
func (r *Reconciler) removeGhosts(ctx context.Context, policy string) (time.Duration, error) {
	enactments := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.client.List(ctx, enactments, r.ofPolicy(policy), client.UnsafeDisableDeepCopy); err != nil {
		return 0, fmt.Errorf("listing the enactments of policy %s, which is gone: %w", policy, err)
	}
	var ghosts []*v1.NodeNetworkConfigurationEnactment
	var again time.Duration
	for i := range enactments.Items {
		enactment := &enactments.Items[i]
		if enactment.Spec.ApprovedGeneration != 0 || !enactment.DeletionTimestamp.IsZero() {
			continue
		}
		if left := ghostAge - r.clock.Since(enactment.CreationTimestamp.Time); left > 0 {
			again = max(again, min(left, ghostAge))
			continue
		}
		ghosts = append(ghosts, enactment)
	}
	if len(ghosts) == 0 {
		return again, nil
	}
	err := r.live.Get(ctx, client.ObjectKey{Name: policy}, &v1.NodeNetworkConfigurationPolicy{})
	if err == nil {
		return again, nil // It is there after all, or on its way out.
	}
	if !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("looking for policy %s: %w", policy, err)
	}
	for _, ghost := range ghosts {
		// By its revision too: it may have been granted since it was read.
		err := r.remove(ctx, ghost, client.Preconditions{UID: &ghost.UID, ResourceVersion: &ghost.ResourceVersion})
		if apierrors.IsConflict(err) {
			again = ghostAge // What was written to it meanwhile may be nothing that asks for a turn.
		} else if err != nil {
			return 0, fmt.Errorf("deleting enactment %s, whose policy is gone: %w", ghost.Name, err)
		}
	}
	return again, nil
}

// remove deletes an enactment, unless it is gone; a conflict says that it is another one
// by now. No read waits until
// the cache shows that: controller-runtime (v0.25.2) waits for the watch to tell of it, and
// where the watch broke and the node has made its enactment again meanwhile, it tells of a
// change only. Every plan would wait for ever, of all policies. A plan that finds it still
// there deletes it again, by its UID.
func (r *Reconciler) remove(ctx context.Context, enactment *v1.NodeNetworkConfigurationEnactment, only client.Preconditions) error {
	target := &v1.NodeNetworkConfigurationEnactment{}
	target.Name = enactment.Name
	if err := r.client.Delete(ctx, target, only, client.DisableReadYourWritesConsistency); !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

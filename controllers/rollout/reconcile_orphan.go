package rollout

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// removeOrphans deletes the enactments of nodes that are gone. The garbage
// collector leaves them: they are owned by the policy as well. A node that only
// our cache does not know yet is asked for at the API server.
func (r *Reconciler) removeOrphans(ctx context.Context, in Input) error {
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
		target := &v1.NodeNetworkConfigurationEnactment{}
		target.Name = enactment.Name
		uid := client.Preconditions{UID: &enactment.UID}
		if err := r.client.Delete(ctx, target, uid); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("deleting enactment %s, whose node is gone: %w", enactment.Name, err)
		}
	}
	return nil
}

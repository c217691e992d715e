package agent

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// create makes the node's NodeNetworkState, owned by the Node. One that was
// deleted comes back as the policies had made it, so that nothing is applied or
// undone; a desired state that was written by hand does not: whoever deleted
// it has taken it back.
func (a *Agent) create(ctx context.Context) error {
	var node corev1.Node
	if err := a.Client.Get(ctx, client.ObjectKey{Name: a.Node}, &node); err != nil {
		return fmt.Errorf("reading Node %s: %w", a.Node, err)
	}
	if err := a.forgetGenerations(ctx); err != nil {
		return err
	}
	yes := true
	nns := &v1.NodeNetworkState{
		ObjectMeta: metav1.ObjectMeta{Name: a.Node, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID},
		}},
		Spec: v1.NodeNetworkStateSpec{Managed: &yes, NodeName: a.Node},
	}
	if committed := a.record.Committed; committed != nil && len(committed.Sources) > 0 {
		nns.Spec.DesiredState, nns.Spec.Sources = v1.NewState(committed.Desired), committed.Sources
	}
	a.reported.written = nil
	a.inbox.dirty.Store(true)
	if err := a.Client.Create(ctx, nns, client.FieldOwner(v1.PolicyFieldManager)); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating NodeNetworkState %s: %w", a.Node, err)
	}
	return nil
}

// forgetGenerations: those of an object that is gone say nothing about the new
// one, which counts from one again.
func (a *Agent) forgetGenerations(ctx context.Context) error {
	if a.record.Last == nil || a.record.Last.Generation == 0 {
		return nil
	}
	last := a.record.Last.DeepCopy()
	last.Generation = 0
	a.record.Last = last
	return a.store(ctx)
}

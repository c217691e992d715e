package agent

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

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

// countsAgain tells whether the NodeNetworkState is of a smaller generation than was tried:
// etcd was restored from a backup. A cache that is behind looks the same, so it is read
// live; as long as that fails nothing is forgotten.
func (a *Agent) countsAgain(ctx context.Context, cached *v1.NodeNetworkState) bool {
	last := a.record.Last
	if last == nil || cached.Generation >= last.Generation {
		return false
	}
	var live v1.NodeNetworkState
	if err := a.Live.Get(ctx, client.ObjectKeyFromObject(cached), &live); err != nil {
		logf.FromContext(ctx).V(1).Info("cannot read whether the cluster was restored", "cause", err.Error())
		return false
	}
	return live.Generation < last.Generation
}

// forgetGenerations: those of an object that is gone say nothing about the new
// one, which counts from one again, and those that an etcd has lost nothing about what it
// was restored to.
func (a *Agent) forgetGenerations(ctx context.Context) error {
	if a.record.Last == nil || a.record.Last.Generation == 0 {
		return nil
	}
	last := a.record.Last.DeepCopy()
	last.Generation = 0
	a.record.Last = last
	if failed := a.record.Failed; failed != nil {
		again := *failed
		again.Last.Generation = 0
		a.record.Failed = &again
	}
	return a.store(ctx)
}

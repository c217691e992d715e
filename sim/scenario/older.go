package scenario

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// doPrecede makes it so that the older project had the node until now, and ours never was
// there: the node has what the policies made and no record of it, and the API has the older
// project's objects.
func doPrecede(ctx context.Context, r *run, s *Step) error {
	return r.each(s.Args["NODES"], func(node string) error {
		if err := r.Forget(ctx, node); err != nil {
			return err
		}
		var owner corev1.Node
		if err := r.Client().Get(ctx, client.ObjectKey{Name: node}, &owner); err != nil {
			return fmt.Errorf("reading node %s: %w", node, err)
		}
		var enactments v1.NodeNetworkConfigurationEnactmentList
		if err := r.Client().List(ctx, &enactments); err != nil {
			return fmt.Errorf("listing enactments: %w", err)
		}
		var state v1.NodeNetworkState
		if err := r.Client().Get(ctx, client.ObjectKey{Name: node}, &state); err != nil {
			return fmt.Errorf("reading NodeNetworkState %s: %w", node, err)
		}
		ours := []client.Object{&state}
		for i := range enactments.Items {
			if enactments.Items[i].Node() == node {
				ours = append(ours, &enactments.Items[i])
			}
		}
		for _, object := range ours {
			if err := Replace(ctx, r.Client(), object, Older(object, &owner)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Older is what the older project would have left in the place of an object of ours, which
// is an enactment or the NodeNetworkState of the node.
func Older(ours client.Object, node *corev1.Node) client.Object {
	if enactment, is := ours.(*v1.NodeNetworkConfigurationEnactment); is {
		return olderEnactment(enactment, node)
	}
	return olderState(ours.(*v1.NodeNetworkState))
}

// olderEnactment is what the older project would have left in the place of one of ours: the
// node for an owner, and nothing that it does not know.
func olderEnactment(ours *v1.NodeNetworkConfigurationEnactment, node *corev1.Node) *v1.NodeNetworkConfigurationEnactment {
	older := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: ours.Name, Labels: ours.Labels,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
	}}
	status := &ours.Status
	older.Status = v1.NodeNetworkConfigurationEnactmentStatus{
		PolicyGeneration: status.PolicyGeneration, DesiredState: status.DesiredState, DesiredStateMetaInfo: status.DesiredStateMetaInfo,
		CapturedStates: status.CapturedStates, Features: status.Features, Conditions: status.Conditions,
	}
	return older
}

// olderState is the same of a NodeNetworkState: it only reports.
func olderState(ours *v1.NodeNetworkState) *v1.NodeNetworkState {
	older := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: ours.Name, OwnerReferences: ours.OwnerReferences}}
	older.Status.CurrentState, older.Status.LastSuccessfulUpdateTime = ours.Status.CurrentState, ours.Status.LastSuccessfulUpdateTime
	return older
}

// Replace puts an object with its status in the place of another one of its name.
func Replace(ctx context.Context, c client.Client, ours, older client.Object) error {
	name := ours.GetName()
	if err := c.Delete(ctx, ours); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	made := older.DeepCopyObject().(client.Object)
	if err := c.Create(ctx, made); err != nil {
		return fmt.Errorf("creating %s: %w", name, err)
	}
	older.SetResourceVersion(made.GetResourceVersion())
	older.SetUID(made.GetUID())
	if err := c.Status().Update(ctx, older); err != nil {
		return fmt.Errorf("writing the status of %s: %w", name, err)
	}
	return nil
}

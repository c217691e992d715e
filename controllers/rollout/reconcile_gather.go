package rollout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// gather reads the input of a plan. Its Policy is nil when the policy is gone, or going;
// then there is nothing else in it either unless a node waits to leave it.
func (r *Reconciler) gather(ctx context.Context, name string) (plan.Input, error) {
	policy, err := r.policy(ctx, name)
	if err != nil {
		return plan.Input{}, err
	}
	// Nothing below changes what it lists, so nothing needs to be copied.
	shared := client.UnsafeDisableDeepCopy
	enactments := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.client.List(ctx, enactments, r.ofPolicy(name), shared); err != nil {
		return plan.Input{}, fmt.Errorf("listing the enactments of policy %s: %w", name, err)
	}
	believed := slices.DeleteFunc(enactments.Items, func(e v1.NodeNetworkConfigurationEnactment) bool {
		if plan.OfItsNode(&e) {
			return false
		}
		log.FromContext(ctx).Info("Enactment is ignored: its label is that of another node than its owner", "enactment", e.Name)
		return true
	})
	if policy == nil && !slices.ContainsFunc(believed, waitsToLeave) {
		return plan.Input{}, nil
	}
	nodes := &corev1.NodeList{}
	if err := r.client.List(ctx, nodes, shared); err != nil {
		return plan.Input{}, fmt.Errorf("listing the nodes: %w", err)
	}
	in := plan.Input{Policy: policy, Enactments: believed, Grace: r.grace, Now: metav1.NewTime(r.clock.Now())}
	in.Unsure = r.unsure.nodes(leaving(name), r.clock.Now())
	if policy != nil {
		maps.Copy(in.Unsure, r.unsure.nodes(policy.UID, r.clock.Now()))
		in.Configured = r.soaks.observe(in, r.clock.Running())
	}
	reported, err := r.reported(ctx, &in)
	if err != nil {
		return plan.Input{}, err
	}
	silent, err := r.silentNodes(ctx, nodes.Items)
	if err != nil {
		return plan.Input{}, err
	}
	if in.ControlPlane, err = r.controlPlane(ctx, name, nodes.Items, silent); err != nil {
		return plan.Input{}, err
	}
	addNodes(&in, nodes.Items, reported, r.gaps.observe(nodes.Items, r.clock.Running()), silent)
	if policy == nil {
		return in, nil
	}
	return in, r.findTaken(ctx, &in, nodes.Items)
}

// policy is nil when it is gone, or going.
func (r *Reconciler) policy(ctx context.Context, name string) (*v1.NodeNetworkConfigurationPolicy, error) {
	policy := &v1.NodeNetworkConfigurationPolicy{}
	err := r.client.Get(ctx, client.ObjectKey{Name: name}, policy)
	switch {
	case apierrors.IsNotFound(err):
		r.soaks.forget(name)
		return nil, nil
	case err != nil:
		return nil, err
	case !policy.DeletionTimestamp.IsZero():
		return nil, nil
	}
	return policy, nil
}

// findTaken finds the nodes that cannot have an enactment, since each name that it may
// have is that of another node's or policy's.
func (r *Reconciler) findTaken(ctx context.Context, in *plan.Input, nodes []corev1.Node) error {
	enacted := in.ByNode()
	uid := make(map[string]types.UID, len(nodes))
	for i := range nodes {
		uid[nodes[i].Name] = nodes[i].UID
	}
	for i := range in.Nodes {
		node := &in.Nodes[i]
		if !node.Matches || node.Unreported || enacted[node.Name] != nil {
			continue
		}
		names := v1.EnactmentNames(node.Name, uid[node.Name], in.Policy.Name)
		taken := 0
		for _, name := range names {
			other := &v1.NodeNetworkConfigurationEnactment{}
			err := r.client.Get(ctx, client.ObjectKey{Name: name}, other)
			switch {
			case err == nil && (other.Node() != node.Name || other.Policy() != in.Policy.Name):
				taken++
			case client.IgnoreNotFound(err) != nil:
				return fmt.Errorf("looking for enactment %s: %w", name, err)
			}
		}
		if taken == len(names) {
			node.Taken = fmt.Sprintf("its enactment cannot be made: another node or policy has the name %s; delete that enactment", strings.Join(names, " and "))
		}
	}
	return nil
}

// reported are the nodes with a NodeNetworkState. Of these only the metadata is read,
// which is all that the cache has.
func (r *Reconciler) reported(ctx context.Context, in *plan.Input) (map[string]bool, error) {
	states := &metav1.PartialObjectMetadataList{}
	states.SetGroupVersionKind(v1.GroupVersion.WithKind("NodeNetworkStateList"))
	if err := r.client.List(ctx, states, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the NodeNetworkStates: %w", err)
	}
	reported := make(map[string]bool, len(states.Items))
	for i := range states.Items {
		state := &states.Items[i]
		reported[state.Name] = true
		if created := state.CreationTimestamp.Time; in.Installed.IsZero() || created.Before(in.Installed) {
			in.Installed = created
		}
	}
	return reported, nil
}

func addNodes(in *plan.Input, nodes []corev1.Node, reported map[string]bool, notReadyFor map[string]time.Duration, silent map[string]*plan.Silence) {
	enacted := in.ByNode()
	for i := range nodes {
		node := &nodes[i]
		matches := false
		if in.Policy != nil {
			var err error
			if matches, err = desired.Selects(in.Policy, node); err != nil {
				in.Refused = err.Error()
			}
		}
		if matches || enacted[node.Name] != nil {
			in.Nodes = append(in.Nodes, plan.Node{
				Name: node.Name, Ready: isReady(node), Matches: matches, Since: readySince(node),
				NotReadyFor: notReadyFor[node.Name], Silent: silent[node.Name], Created: node.CreationTimestamp.Time, Unreported: !reported[node.Name],
				ControlPlane: isControlPlane(node),
			})
		}
	}
}

func isReady(node *corev1.Node) bool {
	ready := nodeReady(node.Status.Conditions)
	return ready != nil && ready.Status == corev1.ConditionTrue
}

func nodeReady(conditions []corev1.NodeCondition) *corev1.NodeCondition {
	for i := range conditions {
		if conditions[i].Type == corev1.NodeReady {
			return &conditions[i]
		}
	}
	return nil
}

// readySince is when Ready became what it is.
func readySince(node *corev1.Node) time.Time {
	if ready := nodeReady(node.Status.Conditions); ready != nil {
		return ready.LastTransitionTime.Time
	}
	return time.Time{}
}

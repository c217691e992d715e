package policy

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// carryOut writes the decision, in its order. It returns false, and has
// written nothing, when something that the decision relies on has changed.
func (r *Reconciler) carryOut(ctx context.Context, m *memory, g *gathered, d desired.Decision) (bool, error) {
	if fresh, err := r.verifyReads(ctx, m, g, d); !fresh || err != nil {
		return false, err
	}
	for _, s := range d.Statuses {
		if err := r.writeStatus(ctx, m, g.enactments[s.Name], s.Status); err != nil {
			return false, fmt.Errorf("status of enactment %s: %w", s.Name, err)
		}
	}
	r.record(g, d.Events)
	if d.Spec != nil {
		if err := r.replaceSpec(ctx, m, g, d); err != nil {
			return false, fmt.Errorf("spec of NodeNetworkState %s: %w", g.input.Node, err)
		}
	}
	if d.Confirm != 0 {
		if err := r.confirm(ctx, m, g.state, d.Confirm); err != nil {
			return false, fmt.Errorf("confirming on NodeNetworkState %s: %w", g.input.Node, err)
		}
	}
	for _, enactment := range d.Create {
		if fresh, err := r.create(ctx, m, g, enactment); !fresh || err != nil {
			return false, err
		}
	}
	for _, name := range d.Delete {
		if err := r.remove(ctx, m, g.enactments[name]); err != nil {
			return false, fmt.Errorf("deleting enactment %s: %w", name, err)
		}
	}
	return r.takeOver(ctx, m, g, d.TakeOver)
}

// readNewest marks those of the policies that the API server itself has at the
// generation that was read.
func (r *Reconciler) readNewest(ctx context.Context, g *gathered, names []string) error {
	for i := range g.input.Policies {
		policy := &g.input.Policies[i]
		if !slices.Contains(names, policy.Name) {
			continue
		}
		live, err := readLive(ctx, r.Live, "policy", policy.Name, &v1.NodeNetworkConfigurationPolicy{})
		if err != nil {
			return err
		}
		policy.Newest = live != nil && live.UID == policy.UID && live.Generation == policy.Generation
	}
	return nil
}

func (r *Reconciler) writeStatus(ctx context.Context, m *memory, old *v1.NodeNetworkConfigurationEnactment, status v1.NodeNetworkConfigurationEnactmentStatus) error {
	next := old.DeepCopy()
	next.Status = status
	states := []v1.State{status.DesiredState}
	if status.Committed != nil {
		states = append(states, status.Committed.DesiredState)
	}
	patch := patchOf(old, "status", status, states...)
	if err := r.Client.Status().Patch(ctx, next, patch); err != nil {
		return err
	}
	m.enactments[next.Name] = writtenEnactment{object: next, at: r.Clock.Now()}
	return nil
}

func (r *Reconciler) writeSpec(ctx context.Context, m *memory, old *v1.NodeNetworkState, spec *desired.Spec) error {
	next := old.DeepCopy()
	next.Spec.DesiredState = spec.DesiredState
	next.Spec.Sources, next.Spec.Policy, next.Spec.Secrets = spec.Sources, spec.Policy, spec.Secrets
	next.Spec.TakeOver = spec.TakeOver
	next.Spec.ProbeTimeoutSeconds = spec.ProbeTimeoutSeconds
	next.Spec.Probes, next.Spec.DefaultProbes = spec.Probes, spec.DefaultProbes
	patch := patchOf(old, "spec", next.Spec, spec.DesiredState)
	if err := r.Client.Patch(ctx, next, patch, client.FieldOwner(v1.PolicyFieldManager)); err != nil {
		return err
	}
	m.state = next
	return nil
}

func (r *Reconciler) remove(ctx context.Context, m *memory, enactment *v1.NodeNetworkConfigurationEnactment) error {
	// An older one than the API server has may not say that the policy is still changing
	// the node, which holds the slot of its rollout.
	same := client.Preconditions{UID: &enactment.UID, ResourceVersion: &enactment.ResourceVersion}
	if err := r.Client.Delete(ctx, enactment, same); client.IgnoreNotFound(err) != nil {
		return err
	}
	m.deleted[enactment.UID] = true
	delete(m.enactments, enactment.Name)
	return nil
}

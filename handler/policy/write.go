package policy

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// carryOut writes the decision, in its order. It returns false, and has
// written nothing, when something that the decision turns on has changed.
func (r *Reconciler) carryOut(ctx context.Context, m *memory, g *gathered, d desired.Decision) (bool, error) {
	if fresh, err := r.startsFrom(ctx, m, g, d.Statuses); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.holds(ctx, g, d.Spec); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.comeAgain(ctx, g, d.Spec); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.isKnown(ctx, g, d); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.tellsSo(ctx, g, d); !fresh || err != nil {
		return false, err
	}
	for _, name := range d.Delete {
		if gone, err := r.gone(ctx, g, g.enactments[name]); !gone || err != nil {
			return false, err
		}
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
		var live v1.NodeNetworkConfigurationPolicy
		if err := r.Live.Get(ctx, client.ObjectKey{Name: policy.Name}, &live); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading policy %s live: %w", policy.Name, err)
		}
		policy.Newest = live.UID == policy.UID && live.Generation == policy.Generation
	}
	return nil
}

// gone reads live that an enactment has no policy any more. A process that has
// just started may be shown the API server as it was before the policy came, and
// with the enactment it would forget how often the policy has failed.
func (r *Reconciler) gone(ctx context.Context, g *gathered, enactment *v1.NodeNetworkConfigurationEnactment) (bool, error) {
	name := enactment.Policy()
	var policy v1.NodeNetworkConfigurationPolicy
	err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &policy)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading policy %s live: %w", name, err)
	}
	owner := slices.ContainsFunc(enactment.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == policy.UID })
	selects := false
	if g.node != nil {
		selects, _ = selected(&policy, g.node) // An affinity that cannot be read selects no node.
	}
	if !owner || !selects {
		return true, nil
	}
	if left, err := r.left(ctx, g, enactment); left || err != nil {
		return left, err
	}
	log.FromContext(ctx).Info("the policy is there, whatever the cache shows", "policy", name)
	return false, nil
}

// left reads live that the node has given up what it had committed of a policy.
// When the policy selects the node again, before the cache shows it, it begins anew
// there, with a grant: the enactment would bring back what has left.
func (r *Reconciler) left(ctx context.Context, g *gathered, enactment *v1.NodeNetworkConfigurationEnactment) (bool, error) {
	if g.state == nil || enactment.Status.Committed == nil || enactment.Status.Retry != nil {
		return false, nil
	}
	var nns v1.NodeNetworkState
	if err := r.Live.Get(ctx, client.ObjectKey{Name: g.state.Name}, &nns); err != nil {
		return false, fmt.Errorf("reading NodeNetworkState %s live: %w", g.state.Name, err)
	}
	has := slices.ContainsFunc(nns.Spec.Sources, func(s v1.DesiredSource) bool { return s.Policy == enactment.Policy() })
	return !has && nns.UID == g.state.UID && nns.Generation == g.state.Generation, nil
}

// holds reads the policy that the spec is about live: a cache may lag behind a
// link that the last change cut.
func (r *Reconciler) holds(ctx context.Context, g *gathered, spec *desired.Spec) (bool, error) {
	if spec == nil || spec.Policy == "" {
		return true, nil
	}
	var policy v1.NodeNetworkConfigurationPolicy
	err := r.Live.Get(ctx, client.ObjectKey{Name: spec.Policy}, &policy)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading policy %s live: %w", spec.Policy, err)
	}
	leaves := spec.Generation == 0
	selects := false
	if err == nil {
		// An affinity that cannot be read selects no node.
		selects, _ = selected(&policy, g.node)
	}
	var fresh bool
	if leaves {
		fresh = apierrors.IsNotFound(err) || policy.UID != spec.UID || !selects
	} else {
		fresh = err == nil && policy.UID == spec.UID && policy.Generation == spec.Generation && selects
	}
	if !fresh {
		log.FromContext(ctx).Info("the policy has changed since it was decided on", "policy", spec.Policy)
	}
	return fresh, nil
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
	same := client.Preconditions{UID: &enactment.UID}
	if err := r.Client.Delete(ctx, enactment, same); client.IgnoreNotFound(err) != nil {
		return err
	}
	m.deleted[enactment.UID] = true
	delete(m.enactments, enactment.Name)
	return nil
}

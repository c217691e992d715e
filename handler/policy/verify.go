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

// verifyReads reads from the API server itself what the decision relies on. It returns
// false where a cache has shown something else: then the next turn decides anew.
func (r *Reconciler) verifyReads(ctx context.Context, m *memory, g *gathered, d desired.Decision) (bool, error) {
	if fresh, err := r.verifyStart(ctx, m, g, d.Statuses); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.verifyPolicy(ctx, g, d.Spec); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.verifyReturning(ctx, g, d.Spec); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.verifyEnactments(ctx, g, d); !fresh || err != nil {
		return false, err
	}
	if fresh, err := r.verifyFailure(ctx, g, d); !fresh || err != nil {
		return false, err
	}
	for _, name := range d.Delete {
		if fresh, err := r.verifyGone(ctx, g, g.enactments[name]); !fresh || err != nil {
			return false, err
		}
	}
	return true, nil
}

// verifyStart checks, before a process writes its first status of an enactment, that the
// NodeNetworkState is the one that the API server has. The cache of a process that has
// just started may show it as it was while a change was under way that has failed since;
// the process would write over the enactment that says so. Later the cache is at least as
// new as what was written last.
func (r *Reconciler) verifyStart(ctx context.Context, m *memory, g *gathered, statuses []desired.StatusWrite) (bool, error) {
	if m.started || len(statuses) == 0 {
		return true, nil
	}
	var live v1.NodeNetworkState
	err := r.Live.Get(ctx, client.ObjectKey{Name: g.input.Node}, &live)
	switch {
	case apierrors.IsNotFound(err):
		m.started = g.state == nil
	case err != nil:
		return false, fmt.Errorf("reading NodeNetworkState %s live: %w", g.input.Node, err)
	default:
		m.state = &live
		m.started = g.state != nil && live.UID == g.state.UID && live.ResourceVersion == g.state.ResourceVersion
	}
	return m.started, nil
}

// verifyReturning checks every policy that returns to the spec with this decision though
// the decision is about another one: it had given way, or lost its NodeNetworkState. The
// cache of a process that has just started may be from before one of them was deleted.
func (r *Reconciler) verifyReturning(ctx context.Context, g *gathered, spec *desired.Spec) (bool, error) {
	if spec == nil {
		return true, nil
	}
	for _, name := range returning(g, spec) {
		var policy v1.NodeNetworkConfigurationPolicy
		err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &policy)
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("reading policy %s live: %w", name, err)
		}
		selects := false
		if err == nil {
			// An affinity that cannot be read selects no node.
			selects, _ = selected(&policy, g.node)
		}
		if apierrors.IsNotFound(err) || !selects {
			log.FromContext(ctx).Info("a policy that would return is gone", "policy", name)
			return false, nil
		}
	}
	return true, nil
}

// returning are the policies that are new in the spec, without the one that the spec is about.
func returning(g *gathered, spec *desired.Spec) []string {
	var names []string
	for _, source := range spec.Sources {
		there := slices.ContainsFunc(g.state.Spec.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy })
		if !there && source.Policy != spec.Policy {
			names = append(names, source.Policy)
		}
	}
	return names
}

// verifyEnactments checks the enactments that the spec relies on: those that abandon the
// change in flight, that of the policy that is next, which may have failed, and those of
// policies that return. Where such an enactment is gone, its policy begins anew, with a
// grant. The cache of a process that has just started may show them as they were before
// the change began, beside a NodeNetworkState that has it, or had it. An enactment whose
// status is written with the spec needs no check: that write fails on an older one.
func (r *Reconciler) verifyEnactments(ctx context.Context, g *gathered, d desired.Decision) (bool, error) {
	if d.Spec == nil {
		return true, nil
	}
	policies := returning(g, d.Spec)
	// The policy itself, which was read live, may want something else. Of one that leaves,
	// the live one may be another of the same name, and what is in flight that one's.
	if itself := len(d.GivesUp) == 1 && d.GivesUp[0] == d.Spec.Policy && d.Spec.Generation != 0; !itself {
		policies = append(policies, d.GivesUp...)
		if d.Spec.Generation != 0 {
			policies = append(policies, d.Spec.Policy)
		}
	}
	for _, policy := range policies {
		shown := g.enacted[policy]
		if shown != nil && slices.ContainsFunc(d.Statuses, func(s desired.StatusWrite) bool { return s.Name == shown.Name }) {
			continue
		}
		known, names := "", v1.EnactmentNames(g.input.Node, g.input.NodeUID, policy)
		if shown != nil {
			known, names = shown.ResourceVersion, []string{shown.Name}
		}
		live, err := r.liveEnactment(ctx, names, g.input.Node, policy)
		if err != nil {
			return false, err
		}
		if live == nil && known != "" || live != nil && live.ResourceVersion != known {
			log.FromContext(ctx).Info("an enactment has changed since it was decided on", "policy", policy)
			return false, nil
		}
	}
	return true, nil
}

// verifyFailure checks the NodeNetworkState that reports a failure, or a policy that did not
// come back. A cache that lags would show an interrupted attempt instead of the lost probe
// of the next one, and the change would be tried once more.
func (r *Reconciler) verifyFailure(ctx context.Context, g *gathered, d desired.Decision) (bool, error) {
	if !d.Charges {
		return true, nil
	}
	var live v1.NodeNetworkState
	err := r.Live.Get(ctx, client.ObjectKey{Name: g.state.Name}, &live)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading NodeNetworkState %s live: %w", g.state.Name, err)
	}
	return live.ResourceVersion == g.state.ResourceVersion, nil
}

// verifyGone checks that an enactment has no policy any more. The cache of a process that
// has just started may be from before the policy was created; without its enactment the
// policy would forget how often it has failed.
func (r *Reconciler) verifyGone(ctx context.Context, g *gathered, enactment *v1.NodeNetworkConfigurationEnactment) (bool, error) {
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
	if left, err := r.verifyLeft(ctx, g, enactment); left || err != nil {
		return left, err
	}
	log.FromContext(ctx).Info("the policy is there, whatever the cache shows", "policy", name)
	return false, nil
}

// verifyLeft checks that the node has given up what it had committed of a policy.
// When the policy selects the node again, before the cache shows it, it begins anew
// there, with a grant: the enactment would bring back what has left.
func (r *Reconciler) verifyLeft(ctx context.Context, g *gathered, enactment *v1.NodeNetworkConfigurationEnactment) (bool, error) {
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

// verifyPolicy checks the policy that the spec is about: a cache may lag behind a
// link that the last change cut.
func (r *Reconciler) verifyPolicy(ctx context.Context, g *gathered, spec *desired.Spec) (bool, error) {
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

package policy

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// startsFrom reads the NodeNetworkState live before what enactments tell of a node is
// written the first time. A process that has just started may be shown it as it was
// while a change was under way that has failed since, and would write over the
// enactment that says so. Later it is as new as what was written last.
func (r *Reconciler) startsFrom(ctx context.Context, m *memory, g *gathered, statuses []desired.StatusWrite) (bool, error) {
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

// comeAgain reads live the policies that the spec is not about and that come into
// it all the same: one that had given way, or lost its NodeNetworkState. A process
// that has just started may be shown the API server as it was before one of them
// was deleted.
func (r *Reconciler) comeAgain(ctx context.Context, g *gathered, spec *desired.Spec) (bool, error) {
	if spec == nil {
		return true, nil
	}
	for _, name := range coming(g, spec) {
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
			log.FromContext(ctx).Info("a policy that would come again is gone", "policy", name)
			return false, nil
		}
	}
	return true, nil
}

// coming are the policies that the spec is not about and that come into it all the same.
func coming(g *gathered, spec *desired.Spec) []string {
	var names []string
	for _, source := range spec.Sources {
		there := slices.ContainsFunc(g.state.Spec.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy })
		if !there && source.Policy != spec.Policy {
			names = append(names, source.Policy)
		}
	}
	return names
}

// isKnown reads live the enactments that the spec turns on: those because of which
// what is in flight is given up, that of the policy that is next, which may have
// failed, and those of policies that come again. Where such an enactment is gone, its
// policy begins anew, with a grant. A process that has just started may be shown them
// as they were before the change began, beside a NodeNetworkState that has it, or had
// it. One is not read where its status is written with the spec: that write fails on
// an older one.
func (r *Reconciler) isKnown(ctx context.Context, g *gathered, d desired.Decision) (bool, error) {
	if d.Spec == nil {
		return true, nil
	}
	policies := coming(g, d.Spec)
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
			log.FromContext(ctx).Info("how it went on the node is told anew", "policy", policy)
			return false, nil
		}
	}
	return true, nil
}

// tellsSo reads the NodeNetworkState live that tells that something failed, or did not
// come back. Where the cache is behind, an interrupted attempt was told instead of the
// lost probe of the next one, and tried once more.
func (r *Reconciler) tellsSo(ctx context.Context, g *gathered, d desired.Decision) (bool, error) {
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

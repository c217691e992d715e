package policy

import (
	"bytes"
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// settles is how long an interface must have been selected before a policy is rendered
// anew for it: one that is plugged in is renamed and comes up first.
const settles = 10 * time.Second

// joining are interfaces that spec.match selects since the policy was rendered.
type joining struct {
	// looked is the report in which they were looked for, and wanted what the node was to
	// be then: an interface that no policy makes any more may be selected.
	looked, wanted []byte
	names          []string
	since          time.Time
}

// followsReports tells whether the policy is rendered anew when spec.match selects
// more. Captures are not: they would be resolved from what the policy itself has changed.
func followsReports(policy *v1.NodeNetworkConfigurationPolicy) bool {
	return len(policy.Spec.Match) > 0 && len(policy.Spec.Capture) == 0
}

// join renders a policy anew, in the same generation, for interfaces that joined since.
// None leaves it: a change that hides an interface from spec.match would undo itself,
// and an interface that is gone for a moment would lose what it has. It waits until the
// node has what was rendered before and no change is under way, and for the neighbours of
// all interfaces, where the policy is made of what those announce.
func (r *Reconciler) join(ctx context.Context, known *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) bool {
	if !followsReports(policy) || len(known.matched) == 0 || known.err != nil || !g.has(policy, known) {
		return false
	}
	j := &known.joining
	if len(j.names) == 0 && g.state.Status.Truncated == nil && bytes.Equal(j.looked, g.state.Status.CurrentState.Raw) &&
		bytes.Equal(j.wanted, g.state.Spec.DesiredState.Raw) {
		return false
	}
	names, err := r.joined(g, policy, known.matched)
	if err != nil {
		return false // The whole report is not known here now.
	}
	j.looked, j.wanted = g.state.Status.CurrentState.Raw, g.state.Spec.DesiredState.Raw
	if !slices.Equal(names, j.names) || j.since.After(g.input.Now) { // The clock was set back.
		j.names, j.since = names, g.input.Now
	}
	if len(names) == 0 {
		return false
	}
	if left := settles - g.input.Now.Sub(j.since); left > 0 {
		g.soon(left)
		return false
	}
	made := rendering{generation: known.generation, filters: known.filters, variables: known.variables}
	made.matched = slices.Sorted(slices.Values(slices.Concat(known.matched, names)))
	if waiting := r.make(ctx, &made, g, policy); waiting != "" {
		return false
	}
	if made.err != nil {
		log.FromContext(ctx).Info("spec.match selects more, which cannot be rendered", "policy", policy.Name, "interfaces", names, "cause", made.err.Error())
		return false
	}
	log.FromContext(ctx).Info("spec.match selects more", "policy", policy.Name, "interfaces", names)
	*known = made
	return true
}

func (r *Reconciler) joined(g *gathered, policy *v1.NodeNetworkConfigurationPolicy, before []string) ([]string, error) {
	current, there, err := g.current()
	if err != nil || !there {
		return nil, err
	}
	wanted, err := state.Parse(g.state.Spec.DesiredState.Raw)
	if err != nil {
		return nil, err
	}
	return desired.Joined(policy.Spec.Match, current, wanted, before, r.Protected, policy.Spec.AutoConfig != nil)
}

// has tells whether the node has committed what is known of the policy, and is changing nothing.
func (g *gathered) has(policy *v1.NodeNetworkConfigurationPolicy, known *rendering) bool {
	enactment := g.enacted[policy.Name]
	if g.state == nil || enactment == nil || !ownedBy(enactment, policy) || g.state.Status.Transaction.IsUnderWay() {
		return false
	}
	committed, hash := enactment.Status.Committed, known.Hash
	if known.named {
		hash = enactment.Status.Hash // With the versions of its Secrets.
	}
	return committed != nil && committed.Generation == policy.Generation && committed.Hash == hash
}

// soon asks for a turn by then.
func (g *gathered) soon(after time.Duration) {
	if g.wait == 0 || after < g.wait {
		g.wait = after
	}
}

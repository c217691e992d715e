package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/ptr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	waitingForReport = "Waiting for the first report of this node's network, which captures refer to"
	waitingForMatch  = "Waiting for the first report of this node's network, which spec.match selects from"
)

// rendering is a policy as it came out on a node. It holds for a generation and
// for what else it was made with.
type rendering struct {
	generation int64
	filters    *bool
	variables  map[string]string

	desired.Rendering
	captured map[string]v1.CapturedState
	// matched are the interfaces that it was made for.
	matched []string
	joining joining
	// named: it refers to secrets. secured is with the versions that were given.
	named   bool
	secured desired.Rendering
	given   []v1.SealedSecret
	// clear are the secrets that the policy has in clear text; sealed are the same for
	// the node whose key is sealedFor.
	clear     map[state.SecretReference]string
	sealed    []v1.SealedSecret
	sealedFor string
	// open: the next report may alter it, so it is looked at again.
	open bool
	err  error
}

// render reads and completes a policy, unless it was done before. What the
// node's report says is asked once for a generation: the change that it leads
// to may alter it. Only a match that selects nothing is tried again, and one that
// selects more is followed (join).
func (r *Reconciler) render(ctx context.Context, m *memory, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) desired.Policy {
	p := desired.Policy{
		Name: policy.Name, UID: policy.UID, Generation: policy.Generation,
		Priority: policy.Spec.Priority, Created: policy.CreationTimestamp.Time,
		ProbeTimeoutSeconds: policy.Spec.ProbeTimeoutSeconds,
		DefaultProbes:       policy.Spec.DefaultProbes,
		Mode:                policy.Spec.Mode, PlanHashes: policy.Spec.PlanHashes,
		PlanOf:    policy.Annotations[v1.PlanOfAnnotation],
		Confirmed: confirmed(policy), Hold: desired.HoldOf(policy),
		OnDelete: policy.Spec.OnDelete, Drift: policy.Spec.Drift,
	}
	if p.Variables, p.Err = desired.Variables(policy.Spec.Variables, g.node); p.Err != nil {
		return p
	}
	if p.Probes, p.Err = desired.Probes(policy.Spec.Probes, p.Variables); p.Err != nil {
		return p
	}
	known, ok := m.renderings[policy.UID]
	if !ok || known.open || known.generation != policy.Generation ||
		!ptr.Equal(known.filters, g.filtersVLANs()) || !maps.Equal(known.variables, p.Variables) {
		made := rendering{generation: policy.Generation, filters: g.filtersVLANs(), variables: p.Variables}
		if ok && known.generation == policy.Generation {
			made.matched = known.matched
		}
		if shared, same := r.shared.find(policy, made.filters); same {
			made = shared
		} else {
			if p.Waiting = r.make(ctx, &made, g, policy); p.Waiting != "" {
				return p
			}
			r.shared.keep(policy, made)
		}
		m.renderings[policy.UID] = made
		known = made
	}
	changed := r.join(ctx, &known, g, policy) || known.matched != nil
	p.Rendering, p.Captured, p.Err = known.Rendering, known.captured, known.err
	if p.Err == nil && known.named {
		changed = r.secure(g, &p, policy, &known) || changed
	}
	if changed {
		m.renderings[policy.UID] = known
	}
	p.MatchedInterfaces = known.matched
	p.MatchesNothing = len(policy.Spec.Match) > 0 && len(known.matched) == 0 && known.err == nil
	if p.Err == nil {
		p.Err = v1.CheckProbes("spec.probes", p.Probes)
	}
	if p.Err == nil {
		p.Err = g.checkKernel(policy, p.Rendering)
	}
	return p
}

// checkKernel asks what the node says of its kernel. What the node has committed of
// the policy, it could make.
func (g *gathered) checkKernel(policy *v1.NodeNetworkConfigurationPolicy, made desired.Rendering) error {
	if g.state == nil || g.state.Status.Capabilities == nil || len(g.state.Status.Capabilities.MissingLinkTypes) == 0 {
		return nil
	}
	enactment := g.enacted[policy.Name]
	if enactment != nil && enactment.Status.Committed != nil && enactment.Status.Committed.Hash == made.Hash {
		return nil
	}
	current, there, err := g.current()
	if errors.Is(err, errTruncated) || !there && err == nil {
		return nil // What the kernel cannot make, it refuses.
	}
	if err != nil {
		return err
	}
	return desired.CheckKernel(made.State, current, g.state.Status.Capabilities)
}

// make renders the policy, in this order: variables, so that captures may use
// them; match, since only then is it known which captures' templates there
// are; captures. It returns what it waits for.
func (r *Reconciler) make(ctx context.Context, made *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) (waiting string) {
	before := resolvedBefore(g, policy)
	if before != nil && len(made.matched) == 0 {
		made.matched = before.MatchedInterfaces
	}
	if len(policy.Spec.Match) > 0 && len(made.matched) == 0 {
		current, there, err := g.current()
		if !there && err == nil {
			return waitingForMatch
		}
		if err == nil {
			made.matched, err = desired.Match(policy.Spec.Match, current, r.Protected)
		}
		made.open = len(made.matched) == 0 // Also where the report was truncated: it may get smaller.
		if made.err = err; err != nil {
			return ""
		}
	}
	ready := true
	switch {
	case policy.Spec.AutoConfig != nil:
		waiting = r.configure(made, g, policy, before)
	case len(policy.Spec.Capture) > 0:
		waiting = r.capture(ctx, made, g, policy, before)
	default:
		var wanted []byte
		if wanted, made.err = r.expand(made, policy, nil); made.err == nil {
			made.Rendering, ready, made.err = complete(g, policy, wanted)
		}
	}
	if !ready {
		waiting = waitingForVLANs
	}
	if made.err == nil {
		made.err = desired.Trespass(made.State, r.Protected)
	}
	if made.err == nil {
		made.err = state.CheckCommands(state.State{}, made.State, r.Commands)
	}
	made.named = len(made.State.SecretReferences()) > 0
	if made.err != nil {
		made.Rendering, made.captured = desired.Rendering{}, nil
		if len(policy.Spec.Capture) == 0 {
			made.open = made.open || len(policy.Spec.Match) > 0
			made.matched = nil
		}
	}
	return waiting
}

// expand puts variables and matched interfaces into the desired state, and references in
// the place of secrets in clear text.
func (r *Reconciler) expand(made *rendering, policy *v1.NodeNetworkConfigurationPolicy, captures map[string]string) ([]byte, error) {
	expanded, err := desired.Expand(policy.Spec.DesiredState.Raw, desired.Templates{
		Variables: made.variables, Matching: len(policy.Spec.Match) > 0, Matched: made.matched, Captures: captures,
	})
	if err != nil {
		return nil, err
	}
	expanded, made.clear = desired.ReferClear(expanded, r.refer(policy))
	return expanded, nil
}

// configure makes the desired state of what LLDP neighbours announce.
func (r *Reconciler) configure(made *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy, before *v1.NodeNetworkConfigurationEnactmentStatus) (waiting string) {
	if before != nil && slices.Equal(before.MatchedInterfaces, made.matched) && len(made.matched) > 0 {
		made.Rendering, made.err = desired.Render(before.DesiredState.Raw, policy.Spec.Priority, false)
		return ""
	}
	current, there, err := g.current()
	if err != nil {
		made.err = err
		return ""
	}
	if !there {
		return waitingForMatch
	}
	wanted, waiting, err := desired.AutoConfigure(*policy.Spec.AutoConfig, current, made.matched)
	if err != nil || waiting != "" {
		made.err = err
		return waiting
	}
	made.Rendering, made.err = desired.Render(wanted.JSON(), policy.Spec.Priority, false)
	return ""
}

// resolvedBefore finds this generation's rendering in the enactment, where an
// earlier process left it; nil when there is none.
func resolvedBefore(g *gathered, policy *v1.NodeNetworkConfigurationPolicy) *v1.NodeNetworkConfigurationEnactmentStatus {
	enactment := g.enacted[policy.Name]
	if enactment == nil || !ownedBy(enactment, policy) && !desired.IsOlderOf(enactment, policy.CreationTimestamp.Time) {
		return nil
	}
	status := &enactment.Status
	if status.PolicyGeneration != policy.Generation || status.DesiredState.IsZero() {
		return nil
	}
	return status
}

func ownedBy(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, owner := range enactment.OwnerReferences {
		if owner.UID == policy.UID {
			return true
		}
	}
	return false
}

// errTruncated is for who needs the whole report and has a part of it.
var errTruncated = errors.New("the node's report is truncated (status.truncated of its NodeNetworkState), and only the node's own handler knows the rest: " +
	"use --mode distributed, or name the interfaces in spec.desiredState instead of spec.match, spec.autoConfig or spec.capture")

// current is the node's whole network as reported; false before its first report, and
// while a handler that has just begun has not read it.
func (g *gathered) current() (state.State, bool, error) {
	if g.state == nil || g.state.Status.CurrentState.IsZero() {
		return state.State{}, false, nil
	}
	if g.state.Status.Truncated != nil {
		if g.input.Whole != nil {
			return *g.input.Whole, true, nil
		}
		if g.local {
			return state.State{}, false, nil
		}
		return state.State{}, false, errTruncated
	}
	if g.report == nil {
		parsed, err := state.Parse(g.state.Status.CurrentState.Raw)
		if err != nil {
			return state.State{}, false, fmt.Errorf("reading the node's reported state: %w", err)
		}
		g.report = &parsed
	}
	return *g.report, true, nil
}

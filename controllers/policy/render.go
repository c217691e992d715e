package policy

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const waitingForReport = "Waiting for the first report of this node's network, which captures refer to"

// errNoCaptures is for the policy's author.
var errNoCaptures = errors.New("spec.capture: this handler cannot resolve captures, since it was built without libnmstate; write the values into spec.desiredState")

// rendering is a policy as it came out on a node. It holds for a generation.
type rendering struct {
	generation int64
	filters    *bool
	desired.Rendering
	captured map[string]v1.CapturedState
	err      error
}

// render parses and completes a policy, unless it was done before. Captures
// are resolved once for a generation: the change that they lead to may alter
// what they would resolve to.
func (r *Reconciler) render(m *memory, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) desired.Policy {
	p := desired.Policy{
		Name: policy.Name, UID: policy.UID, Generation: policy.Generation,
		Priority: policy.Spec.Priority, Created: policy.CreationTimestamp.Time,
		ProbeTimeoutSeconds: policy.Spec.ProbeTimeoutSeconds,
		Probes:              policy.Spec.Probes, DefaultProbes: policy.Spec.DefaultProbes,
		OnDelete: policy.Spec.OnDelete, Drift: policy.Spec.Drift,
	}
	known, ok := m.renderings[policy.UID]
	if !ok || known.generation != policy.Generation || !ptr.Equal(known.filters, g.filtersVLANs()) {
		known = rendering{generation: policy.Generation, filters: g.filtersVLANs()}
		ready := true
		if len(policy.Spec.Capture) == 0 {
			known.Rendering, ready, known.err = complete(g, policy, policy.Spec.DesiredState.Raw)
		} else if !r.renderCaptures(&known, g, policy) {
			p.Waiting = waitingForReport
			return p
		}
		if !ready {
			p.Waiting = waitingForVLANs
			return p
		}
		m.renderings[policy.UID] = known
	}
	p.Rendering, p.Captured, p.Err = known.Rendering, known.captured, known.err
	if p.Err == nil {
		p.Err = v1.CheckProbes("spec.probes", p.Probes)
	}
	return p
}

// renderCaptures returns false while the node's state is not known.
func (r *Reconciler) renderCaptures(known *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) bool {
	if raw, captured, ok := resolvedBefore(g, policy); ok {
		known.Rendering, known.err = desired.Render(raw, policy.Spec.Priority, false)
		known.captured = captured
		return true
	}
	if r.Captures == nil {
		known.err = errNoCaptures
		return true
	}
	if g.filtersVLANs() == nil || g.state.Status.CurrentState.IsZero() {
		return false
	}
	known.err = r.resolve(known, g, policy)
	return true
}

// resolvedBefore finds this generation's rendering in the enactment, where an
// earlier process left it.
func resolvedBefore(g *gathered, policy *v1.NodeNetworkConfigurationPolicy) ([]byte, map[string]v1.CapturedState, bool) {
	enactment := g.enactments[v1.EnactmentName(g.input.Node, policy.Name)]
	if enactment == nil || !ownedBy(enactment, policy) {
		return nil, nil, false
	}
	status := enactment.Status
	if status.PolicyGeneration != policy.Generation || status.DesiredState.IsZero() {
		return nil, nil, false
	}
	return status.DesiredState.Raw, status.CapturedStates, true
}

func ownedBy(enactment *v1.NodeNetworkConfigurationEnactment, policy *v1.NodeNetworkConfigurationPolicy) bool {
	for _, owner := range enactment.OwnerReferences {
		if owner.UID == policy.UID {
			return true
		}
	}
	return false
}

func (r *Reconciler) resolve(known *rendering, g *gathered, policy *v1.NodeNetworkConfigurationPolicy) error {
	raw, err := json.Marshal(map[string]any{"capture": policy.Spec.Capture, "desiredState": policy.Spec.DesiredState})
	if err != nil {
		return fmt.Errorf("reading spec.capture: %w", err)
	}
	current, err := state.Parse(g.state.Status.CurrentState.Raw)
	if err != nil {
		return fmt.Errorf("resolving spec.capture: the node's current state: %w", err)
	}
	resolved, captured, err := r.Captures.Resolve(raw, current)
	if err != nil {
		return fmt.Errorf("resolving spec.capture: %w", err)
	}
	if len(captured) > 0 { // libnmstate's C library does not tell them.
		known.captured = make(map[string]v1.CapturedState, len(captured))
	}
	for name, value := range captured {
		known.captured[name] = v1.CapturedState{
			State:    v1.NewState(value.JSON()),
			MetaInfo: v1.CapturedStateMeta{Time: metav1.Time{Time: r.Clock.Now()}.Rfc3339Copy(), Version: "0"},
		}
	}
	known.Rendering, err = desired.Render(resolved.JSON(), policy.Spec.Priority, *g.filtersVLANs())
	return err
}

package view

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Preview plans a policy that is not in the cluster, by the functions of the nodes, from
// what they have reported. It changes nothing there. The nodes' own plan knows more: the
// whole of a report that is cut, captures, taints, and what has changed since.
type Preview struct {
	plan Plan
	name string
	raw  []byte
	now  time.Time
	// held is what nodes have committed, by node.
	held map[string][]desired.Contribution
}

// NewPreview begins with a policy's desired state and what nodes have committed.
func NewPreview(name string, raw []byte, enactments []v1.NodeNetworkConfigurationEnactment, now time.Time) *Preview {
	p := &Preview{plan: Plan{Policy: name, Groups: []PlanGroup{}}, name: name, raw: raw, now: now, held: map[string][]desired.Contribution{}}
	for i := range enactments {
		one := &enactments[i]
		committed := one.Status.Committed
		if committed == nil {
			continue
		}
		if parsed, err := state.Parse(committed.DesiredState.Raw); err == nil {
			p.held[one.Node()] = append(p.held[one.Node()], desired.Contribution{
				Policy: one.Policy(), Generation: committed.Generation, Hash: committed.Hash,
				Priority: committed.Priority, Created: committed.Created.Time, State: parsed,
			})
		}
	}
	return p
}

// Add plans the policy on a node.
func (p *Preview) Add(nns *v1.NodeNetworkState) {
	current, err := state.Parse(nns.Status.CurrentState.Raw)
	if err != nil || current.IsEmpty() || nns.Status.Truncated != nil {
		p.plan.Silent = append(p.plan.Silent, nns.Name)
		return
	}
	filters := nns.Status.BridgeVLANFiltering
	rendering, err := desired.Render(p.raw, 0, filters != nil && *filters)
	if err != nil {
		p.plan.refuse(nns.Name, err.Error())
		return
	}
	own := desired.Contribution{Policy: p.name, Hash: rendering.Hash, Created: p.now, State: rendering.State}
	all := []desired.Contribution{}
	for _, one := range p.held[nns.Name] {
		if one.Policy == p.name {
			own.Created = one.Created
		} else {
			all = append(all, one)
		}
	}
	target, conflicts := desired.Merge(append(all, own))
	for _, conflict := range conflicts {
		if conflict.Policy == p.name {
			p.plan.refuse(nns.Name, conflict.String())
			return
		}
	}
	plan := desired.Plan(rendering.State, target, current, desired.Undone{})
	p.plan.group(nns.Name, &plan)
}

// Plan is what came of it.
func (p *Preview) Plan() Plan {
	plan := p.plan
	plan.order()
	plan.Says = plan.radius()
	return plan
}

// order puts the groups in the order in which they are shown.
func (p *Plan) order() {
	slices.SortStableFunc(p.Groups, func(a, b PlanGroup) int {
		return cmp.Or(b.Disruption.Severity()-a.Disruption.Severity(), len(b.Nodes)-len(a.Nodes), cmp.Compare(a.Hash, b.Hash))
	})
}

// refuse notes why a policy fails on a node.
func (p *Plan) refuse(node, cause string) {
	for i := range p.Refused {
		if p.Refused[i].Cause == cause {
			p.Refused[i].Nodes = append(p.Refused[i].Nodes, node)
			return
		}
	}
	p.Refused = append(p.Refused, Refusal{[]string{node}, cause})
}

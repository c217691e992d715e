package plan

import (
	"cmp"
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	modePlan = "Plan"
	// maxPlans that a policy's status lists.
	maxPlans = 100
)

// readPlan: in mode Plan nothing is granted, and a node is finished when its
// plan is there.
func (p *place) readPlan(enactment *v1.NodeNetworkConfigurationEnactment) {
	switch {
	case !p.reported:
	case isTrue(enactment, v1.EnactmentFailing):
		p.phase = failing
	case isTrue(enactment, v1.Planned) && enactment.Status.Plan != nil:
		p.phase, p.plan = planned, enactment.Status.Plan
	}
}

func (p *planning) planVerdict(t tally) verdict {
	v := verdict{counts: t.PolicyCounts, nodes: fmt.Sprintf("%d/%d", t.Planned, t.all)}
	switch {
	case t.all == 0:
		v.state, v.message = unmatched, messageUnmatched
	case t.nobody():
		v.state, v.message = unmatched, messageUnmanaged+notCounted(t)
	case t.Failing > 0:
		v.state, v.message = failed, fmt.Sprintf("%d/%d nodes failed to plan", t.Failing, t.all)
		v.detail = p.firstCause()
	case t.finished < int(t.Matched) || t.Planned == 0:
		v.state, v.message = progressing, fmt.Sprintf("Policy is progressing %d/%d nodes planned", t.finished, t.Matched)
		v.message += some(t.Pending, ", %d pending") + notCounted(t)
		v.goesOn = v1.ReasonConfigurationProgressing
	default:
		v.state, v.message = reviewable, fmt.Sprintf("%d/%d nodes planned", t.Planned, t.all)
		v.message += notCounted(t)
	}
	return v
}

// plans are the nodes' plans, each once, the most disruptive first.
func (p *planning) plans() []v1.PolicyPlan {
	at := map[string]int{}
	var plans []v1.PolicyPlan
	for _, place := range p.places {
		if !place.Matches || place.phase != planned {
			continue
		}
		i, known := at[place.plan.Hash]
		if !known {
			i = len(plans)
			at[place.plan.Hash] = i
			plans = append(plans, v1.PolicyPlan{Hash: place.plan.Hash, Disruption: place.plan.Disruption, Example: place.Name})
		}
		plans[i].Nodes++
	}
	slices.SortFunc(plans, func(a, b v1.PolicyPlan) int {
		return cmp.Or(b.Disruption.Severity()-a.Disruption.Severity(), int(b.Nodes-a.Nodes), cmp.Compare(a.Hash, b.Hash))
	})
	if len(plans) > maxPlans {
		p.note("%d plans are left out of the status", len(plans)-maxPlans)
		plans = plans[:maxPlans]
	}
	return plans
}

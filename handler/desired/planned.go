package desired

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// ModePlan is the mode of a policy that is looked at and not applied.
const ModePlan = "Plan"

const (
	messageNoReport  = "Waiting for the first report of this node's network"
	messageTruncated = "Waiting for the whole report of this node's network: status.truncated of its NodeNetworkState says that more is left out than a plan may miss, " +
		"and only the node's own handler (--mode distributed) knows the rest"
)

// ReadsReport tells whether what the node reports matters to the policy: for its
// plan, or for a warning.
func (p Policy) ReadsReport() bool {
	return p.Mode == ModePlan || len(p.PlanHashes) > 0 || mayRing(p.State)
}

// plans tells whether the policy is to be looked at only. What the node has
// committed of it stays.
func (m *member) plans() bool { return m.policy != nil && m.policy.Mode == ModePlan }

// pinned tells whether only certain plans of the policy may be applied.
func (m *member) pinned() bool {
	return m.policy != nil && !m.plans() && len(m.policy.PlanHashes) > 0
}

// plan makes the plans that are to be seen, and those that decide whether a
// policy may begin. What has begun or is committed keeps the plan it had.
func (t *turn) plan() {
	for _, m := range t.members {
		switch {
		case m.policy == nil || m.enactment == nil:
		case !m.plans() && !m.pinned():
			m.status.Plan = nil
		case !m.readable():
			if m.policy.Err != nil || m.enactment.Status.PolicyGeneration != m.policy.Generation {
				m.status.Plan = nil
			}
		case m.plans():
			t.planOne(m)
		case m.changed() && m != t.inFlight && m.due(t.in.Now):
			if t.planOne(m) && !slices.Contains(m.policy.PlanHashes, m.status.Plan.Hash) {
				m.unpinned = unpinnedMessage(m.status.Plan.Hash, m.policy.PlanHashes)
			}
		}
	}
}

// due tells whether nothing keeps the policy from being tried again.
func (m *member) due(now time.Time) bool {
	wait, ever := m.retryIn(now)
	return ever && wait == 0
}

// planOne compares the node now and then. It returns false where there is
// nothing to compare with, or the policy would be left out.
func (t *turn) planOne(m *member) bool {
	current, known := t.report()
	if !known {
		m.planWaits = messageNoReport
		if t.truncated() {
			m.planWaits = messageTruncated
		}
		return false
	}
	target, held := t.with(m), m.held
	if m.plans() && m.policy.PlanOf != "" {
		target, held = t.inPlaceOf(m)
	}
	if m.planWaits = t.makesWay(target, m); m.planWaits != "" {
		m.status.Plan = nil
		return false
	}
	if conflict, is := target.conflictOf(m.name); is {
		m.conflict, m.status.Plan = &conflict, nil
		return false
	}
	var undone Undone
	if held != nil && m.policy.OnDelete == v1.OnDeleteRevert {
		undone = t.undone(held.State)
	}
	plan := Plan(m.policy.State, target.state, current, undone)
	plan.Warnings = bounded(append(state.Mistakable(m.policy.State, target.state, current), t.warnings(m.policy.State, target.state)...))
	if !equality.Semantic.DeepEqual(m.status.Plan, &plan) {
		m.status.Plan = &plan
	}
	return true
}

// inPlaceOf is the aggregate as if the policy that the member is planned for said what
// the member says, and what the node has committed of that policy.
func (t *turn) inPlaceOf(m *member) (aggregate, *Contribution) {
	edited := m.rendered()
	others := t.others(m)
	var held *Contribution
	if of := t.byName[m.policy.PlanOf]; of != nil {
		others = slices.DeleteFunc(others, func(c Contribution) bool { return c.Policy == of.name })
		held = of.held
		if of.policy != nil {
			edited.Created = of.policy.Created
		}
	}
	return fold(append(others, edited)), held
}

// report is the node's whole state; false where only a part of it is known.
func (t *turn) report() (state.State, bool) {
	switch {
	case !t.truncated():
		return t.told()
	case t.in.Whole != nil:
		return *t.in.Whole, true
	}
	return state.State{}, false
}

func (t *turn) truncated() bool { return t.in.State != nil && t.in.State.Status.Truncated != nil }

// told is the node's state as it was last reported, which may be a part only: of what
// policies name, nothing is left out.
func (t *turn) told() (state.State, bool) {
	if t.current == nil {
		var read state.State
		if t.in.State != nil {
			// What cannot be read is as good as nothing: the next report comes.
			read, _ = state.Parse(t.in.State.Status.CurrentState.Raw)
		}
		t.current = &read
	}
	return *t.current, !t.current.IsEmpty()
}

func unpinnedMessage(fresh string, pinned []string) string {
	known := pinned[0]
	if more := len(pinned) - 1; more > 0 {
		known += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("the plan of this node, %s, is not one of spec.planHashes (%s), so it is not what was reviewed: look at status.plan, then pin its hash, or bring the node to what it was",
		fresh, known)
}

// describePlan shows the plan, or why there is none.
func (t *turn) describePlan(m *member) {
	switch {
	case m.conflict != nil:
		t.refuse(m, failedRow(m.conflict.String()))
	case m.planWaits != "":
		m.show(pendingRow(m.planWaits), t.in.Now)
	default:
		m.show(plannedRow(planMessage(m.status.Plan)), t.in.Now)
	}
}

func planMessage(plan *v1.EnactmentPlan) string {
	return planSummary(plan) + warningSuffix(plan.Warnings)
}

// warningSuffix puts what a person should look at behind what came of a policy. A
// warning refuses nothing.
func warningSuffix(warnings []string) string {
	if len(warnings) == 0 {
		return ""
	}
	return "; warning: " + strings.Join(warnings, "; ")
}

func planSummary(plan *v1.EnactmentPlan) string {
	if plan.Disruption == v1.DisruptionNone {
		return fmt.Sprintf("planned: nothing would change; the plan's hash is %s", plan.Hash)
	}
	worst := ""
	for _, planned := range plan.Interfaces {
		if planned.Disruption == plan.Disruption {
			worst = fmt.Sprintf(" (%s: %s)", planned.Name, planned.Reason)
			break
		}
	}
	return fmt.Sprintf("planned, nothing is applied: %s%s; to apply exactly this, set spec.mode Apply and pin %s in spec.planHashes",
		plan.Disruption, worst, plan.Hash)
}

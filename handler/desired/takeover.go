package desired

import (
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// A policy that the older project has configured on the node is taken over. Its
// enactment there has no policy for an owner, so it is replaced by one of ours, which
// keeps in an annotation what the older one says. The node's change then says so as well
// (spec.takeOver), and the state handler looks whether there is anything to apply.
//
//	older enactment ──► ours, annotated ── grant ──► spec.takeOver ──► committed as it is
//	                                                      └── something is lacking ──► a transaction

// isOlder tells an enactment as the older project leaves it from one of ours: it has a
// desired state, and nothing of what our handlers write beside that, nor a policy for an owner.
func isOlder(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	status := &enactment.Status
	return ownerUID(enactment) == "" && !status.DesiredState.IsZero() &&
		status.Hash == "" && status.ObservedGeneration == 0 && status.Committed == nil
}

// IsOlderOf tells whether an enactment is the older project's, of a policy that was
// created then: one that is older than the policy was of another policy of that name.
func IsOlderOf(enactment *v1.NodeNetworkConfigurationEnactment, created time.Time) bool {
	return isOlder(enactment) && !enactment.CreationTimestamp.Time.Before(created)
}

// claims tells whether the enactment is the older project's word that it has configured
// the policy as that is now.
func (m *member) claims() bool {
	if m.successor == nil || !IsOlderOf(m.enactment, m.successor.Created) {
		return false
	}
	status := &m.enactment.Status
	return status.PolicyGeneration == m.successor.Generation && isTrue(status.Conditions, v1.EnactmentAvailable) &&
		!isTrue(status.Conditions, v1.EnactmentFailing) && !isTrue(status.Conditions, v1.EnactmentProgressing)
}

// takeOver replaces the older project's enactment. As long as it is not known how the
// policy comes out here, the older one stays: it is all that tells of it.
func (t *turn) takeOver(m *member) {
	if m.successor.Waiting != "" {
		return
	}
	next := t.enactmentOf(m.successor)
	if m.successor.Err == nil && comesOutAs(m.successor, m.enactment.Status.DesiredState) {
		next.Annotations = map[string]string{v1.TakenOverAnnotation: m.successor.Hash}
	}
	t.decision.TakeOver = append(t.decision.TakeOver, next)
	t.note("policy %s: its enactment is taken over from the older project", m.name)
}

// comesOutAs compares a rendering with the older project's. That one writes the trunks of
// a bridge's ports out, or leaves them out.
func comesOutAs(policy *Policy, older v1.State) bool {
	for _, canFilterVLANs := range []bool{true, false} {
		was, err := Render(older.Raw, policy.Priority, canFilterVLANs)
		if err == nil && was.Hash == policy.Hash {
			return true
		}
	}
	return false
}

// isTakenOver tells whether the older project has configured the policy's rendering, and
// nothing of ours was tried since. A policy that brings probes of its own wants them to pass.
func (m *member) isTakenOver() bool {
	return m.enactment != nil && m.policy.Hash != "" && m.enactment.Annotations[v1.TakenOverAnnotation] == m.policy.Hash &&
		m.held == nil && m.status.Retry == nil && len(m.policy.Probes) == 0
}

// keepsCaptures tells whether the enactment is to show at once what the older project's
// has shown: captures are resolved once for a generation.
func (m *member) keepsCaptures() bool { return len(m.policy.Captured) > 0 && m.isTakenOver() }

package desired

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// EventLeavingFailed is recorded on the NodeNetworkState when a policy cannot be taken off
// the node.
const EventLeavingFailed = "LeavingFailed"

const messageLeaving = "taking the policy off the node: "

// waitsToLeave tells whether what the policy configured is still to be undone, and the
// rollout controller has not let this node begin. Where the node is in the middle of a
// change of the policy it does not wait, since it is away in any case; nor where nobody
// could grant it anything, since there is no enactment.
func (t *turn) waitsToLeave(m *member) bool {
	if m.policy != nil || m.enactment == nil || m.enactment.Spec.Leave || m.held == nil {
		return false
	}
	source, is := t.source(m.name)
	if word, known := t.lastWord(m); known {
		source.OnDelete = word
	}
	return is && source.OnDelete == v1.OnDeleteRevert && source.Hash == m.held.Hash
}

// makesWay is what the policy waits for where it cannot be beside another one, which is
// gone and waits for its turn to be undone; empty for nothing.
func (t *turn) makesWay(target aggregate, m *member) string {
	own, clashes := target.conflictOf(m.name)
	for _, other := range t.members {
		if !t.waitsToLeave(other) {
			continue
		}
		if _, displaced := target.conflictOf(other.name); displaced || clashes && own.Other == other.name {
			return "Waiting for policy " + other.name + " to leave this node"
		}
	}
	return ""
}

// tellWaits asks for the permission to leave. How the policy failed is still told, in case
// it selects the node again.
func (t *turn) tellWaits(m *member) {
	m.status.WaitsToLeave = true
	if !isTrue(m.status.Conditions, v1.EnactmentFailing) {
		m.show(leavingRow(), t.in.Now)
	}
	t.write(m)
}

// leave deletes the enactment of a policy that is gone, once the node's state
// is known to be without it: while a change of it is taken back, the enactment
// stands for the slot of its rollout. As long as the node still tries to take the
// policy off, the enactment stays and says why it has not worked yet.
func (t *turn) leave(m *member) {
	switch {
	case m.enactment == nil:
	case t.in.State == nil:
		t.delete(m)
	case t.stays(m):
		t.tellStays(m)
	case !t.inSpec(m) && (m.held == nil && !t.stillChanging(m) || t.done()):
		t.delete(m)
	case t.setAside() && t.over() && (m.status.WaitsToLeave || m.status.Retry != nil && m.status.Retry.After != nil):
		// The next try that it tells of does not come, nor does it leave: who waits for this
		// node's slot (controllers/rollout) would wait until somebody manages it.
		m.show(setAsideRow(), t.in.Now)
		t.write(m)
	case t.managed() && !t.stillChanging(m) && (t.waitsToLeave(m) || m.status.WaitsToLeave && SetAside(m.enactment)):
		t.tellWaits(m)
	}
}

func (t *turn) delete(m *member) {
	if m.claims() {
		t.takeOver(m)
		return
	}
	t.decision.Delete = append(t.decision.Delete, m.enactment.Name)
	t.note("policy %s: gone from the node", m.name)
}

// stays tells whether the node still has what is left of the policy. Where another policy
// of that name selects the node, the enactment makes way for that one's.
func (t *turn) stays(m *member) bool {
	return !m.replaced && !t.inSpec(m) &&
		slices.ContainsFunc(t.in.State.Status.AppliedSources, func(s v1.Source) bool { return s.Policy == m.name })
}

// tellStays shows how the last attempt failed. It is no failure of a generation, so nothing
// is counted, and no slot of the rollout waits for it. What somebody wrote over the removal
// failed in that person's name.
func (t *turn) tellStays(m *member) {
	last := t.in.State.Status.Transaction
	if !t.done() || t.edited() || last == nil || last.IsUnderWay() || last.RetryAfter == nil || last.Result == v1.TransactionSuperseded {
		return // What is shown holds until there is an outcome.
	}
	if m.status.Retry != nil && m.status.Retry.After != nil {
		m.status.Retry = nil // No generation of it is tried any more, which its rollout would wait for.
	}
	first := !strings.HasPrefix(CauseOf(m.enactment), messageLeaving)
	rest := fmt.Sprintf("; its configuration is still there, and the node tries again at %s (%s so far): mend the cause, or wait until it is given up (docs/undo.md)",
		last.RetryAfter.UTC().Format("15:04:05Z"), counted(last.Attempts))
	m.show(failedRow(oneLine(messageLeaving+last.Message, len(rest))+rest), t.in.Now)
	t.write(m)
	if first {
		t.note("policy %s: it cannot be taken off the node: %s", m.name, last.Message)
		t.event(Event{
			Policy: m.name, OnNode: true, Warning: true, Reason: EventLeavingFailed,
			Message: oneLine(fmt.Sprintf("policy %s cannot be taken off the node, which tries again: %s", m.name, last.Message), 0),
		})
	}
}

func counted(attempts int32) string {
	if attempts == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", attempts)
}

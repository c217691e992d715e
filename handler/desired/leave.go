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
	case t.setAside() && t.over() && m.status.Retry != nil && m.status.Retry.After != nil:
		// The next try that it tells of does not come: who waits for this node's slot
		// (controllers/rollout) would wait until somebody manages it.
		m.show(setAsideRow(), t.in.Now)
		t.write(m)
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

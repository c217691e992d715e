package desired

import (
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// flights are the sources of the node's desired state that no enactment has
// committed. There is at most one, unless enactments were lost.
func (t *turn) flights() []v1.Source {
	var found []v1.Source
	for _, source := range t.in.State.Spec.Sources {
		m := t.byName[source.Policy]
		if m == nil || m.held == nil || m.held.Hash != source.Hash {
			found = append(found, source.Source)
		}
	}
	return found
}

// done tells whether the state handler has finished with the spec as it is:
// committed it, or failed and said so. A generation that the spec never had is no
// word about this one: believed, it would have every change given up as soon as written.
func (t *turn) done() bool {
	return t.in.State.Status.ObservedGeneration == t.in.State.Generation || t.ended()
}

// ended tells whether the reported transaction is that of the spec as it is,
// and over. One that was superseded although the spec is the same is begun
// again by the state handler.
func (t *turn) ended() bool {
	last := t.in.State.Status.Transaction
	return last != nil && last.Generation == t.in.State.Generation && !last.IsUnderWay() &&
		last.Result != "" && last.Result != v1.TransactionSuperseded
}

// applied tells whether the node has committed a spec that had this source.
func (t *turn) applied(source v1.Source) bool {
	if t.ended() {
		return t.in.State.Status.Transaction.Result == v1.TransactionCommitted
	}
	return t.committedBefore(source)
}

// committedBefore tells whether the source is in what the node says that it has
// committed last.
func (t *turn) committedBefore(source v1.Source) bool {
	return slices.ContainsFunc(t.in.State.Status.AppliedSources, func(s v1.Source) bool {
		return s.Policy == source.Policy && s.Hash == source.Hash
	}) && !t.committedByHand()
}

// committedByHand tells whether what the node committed last is what somebody wrote
// beside the sources, and not what they come to. When that is not known any more, nobody
// is suspected.
func (t *turn) committedByHand() bool {
	if t.byHand == nil {
		status := t.in.State.Status
		whole, known := t.fold(status.AppliedSources)
		t.byHand = new(known && status.AppliedHash != "" && whole.state.Hash() != status.AppliedHash)
	}
	return *t.byHand
}

// fold is what the sources come to, where that is still known.
func (t *turn) fold(sources []v1.Source) (aggregate, bool) {
	var parts []Contribution
	for _, source := range sources {
		part, known := t.contribution(source)
		if !known {
			return aggregate{}, false
		}
		parts = append(parts, part)
	}
	return foldInOrder(parts), true
}

// settle finds out how what was in flight fared, and records it.
func (t *turn) settle() {
	if t.in.State == nil {
		return
	}
	flights := t.flights()
	if len(flights) == 0 {
		return
	}
	if !t.done() || t.edited() { // What became of what somebody wrote says nothing of the policy.
		m := t.byName[flights[0].Policy]
		// What somebody wrote over is put back by a generation that may begin here.
		again := !t.edited() || m.approved()
		if len(flights) == 1 && m != nil && m.readable() && !m.plans() && m.policy.Hash == flights[0].Hash && again {
			t.inFlight = m
		} else {
			t.superseded = true
			for _, source := range flights {
				t.decision.GivesUp = append(t.decision.GivesUp, source.Policy)
			}
			t.note("the change in flight (%s) is not wanted any more", flights[0].Policy)
		}
		return
	}
	begun := t.begun(flights)
	for _, source := range flights {
		m := t.byName[source.Policy]
		switch {
		case t.applied(source) && t.adopt(m, source):
		case m == nil || m.policy == nil: // It is gone, so it leaves the spec anyway.
		default:
			t.goBack = true
			t.decision.GivesUp = append(t.decision.GivesUp, source.Policy)
			if len(begun) == 1 && begun[0] == source {
				t.unrecorded = m.enactment == nil && t.chargeable(m, source)
				t.charge(m, source)
			}
		}
	}
}

// settleLate charges a policy with the loss of a probe that is told when the spec has moved
// on already: the policy stopped selecting the node while its change was taken back, and
// selects it again, so nothing of it is in flight any more, and the next attempt would lose
// the same probe. As long as its enactment says Progressing, that is of this attempt.
func (t *turn) settleLate() {
	if t.in.State == nil {
		return
	}
	last := t.in.State.Status.Transaction
	if last == nil || last.IsUnderWay() || !last.Final || last.Generation >= t.in.State.Generation {
		return
	}
	m := t.byName[last.Policy]
	if m == nil || !m.changed() || m.enactment == nil || m.renderedAnew() || t.inSpec(m) ||
		!isTrue(m.enactment.Status.Conditions, v1.EnactmentProgressing) {
		return
	}
	lost := v1.Source{Policy: m.name, Generation: m.policy.Generation, Hash: m.policy.Hash}
	if slices.Contains(last.Sources, lost) {
		t.chargeLast(m)
	}
}

// begun are the flights whose change the transaction was. What came back with it has
// been dropped already, and is charged only where it came back alone.
func (t *turn) begun(flights []v1.Source) []v1.Source {
	own := slices.DeleteFunc(slices.Clone(flights), func(s v1.Source) bool {
		m := t.byName[s.Policy]
		return m != nil && m.dropped
	})
	if len(own) == 0 {
		return flights
	}
	return own
}

// adopt records the source as committed. It fails when what the source stands
// for is not known any more.
func (t *turn) adopt(m *member, source v1.Source) bool {
	if m == nil || m.policy == nil {
		return false
	}
	held, known := m.proposed(source)
	if !known {
		return false
	}
	var proven proof
	how := ""
	if last := t.in.State.Status.Transaction; t.ended() {
		proven = proof{last.GuardedBy, last.NotVerified}
		if last.Message != "" {
			how = ": " + last.Message
		}
	}
	m.commit(held, proven, t.in.Now)
	if m.enactment != nil {
		t.event(Event{
			Policy: m.name, Reason: EventConfigured,
			Message: oneLine(fmt.Sprintf("node %s: generation %d is configured%s", t.in.Node, source.Generation, how), 0),
		})
	}
	t.note("policy %s: generation %d is committed", m.name, source.Generation)
	return true
}

// proposed is what the source stood for when it was written. Where the policy was
// edited since, the enactment still shows what it was then.
func (m *member) proposed(source v1.Source) (Contribution, bool) {
	then := m.rendered()
	then.Generation = source.Generation
	if m.policy.Hash == source.Hash {
		return then, true
	}
	if m.enactment == nil || m.enactment.Status.PolicyGeneration != source.Generation {
		return Contribution{}, false
	}
	var err error
	then.State, err = state.Parse(m.enactment.Status.DesiredState.Raw)
	then.Hash = source.Hash
	return then, err == nil && renderingHash(then.State, then.Priority) == source.Hash
}

// charge records a failed transaction on the policy that was changed, once.
// Nothing is charged for a transaction whose end is not known, or that was of
// a generation or rendering that is over.
func (t *turn) charge(m *member, source v1.Source) {
	if m.enactment == nil || !t.chargeable(m, source) || m.renderedAnew() {
		return
	}
	// Before every attempt the enactment is made Progressing, so one that is
	// Failing has been charged for it already.
	if m.failed() && isTrue(m.status.Conditions, v1.EnactmentFailing) {
		return
	}
	t.chargeLast(m)
}

// chargeLast records the last transaction as the policy's failure.
func (t *turn) chargeLast(m *member) {
	last := t.in.State.Status.Transaction
	t.decision.Charges = true
	attempts := int32(1)
	if m.status.Retry != nil {
		attempts = m.status.Retry.Attempts + 1
	}
	m.status.Retry = &v1.EnactmentRetry{Attempts: attempts}
	m.status.GuardedBy, m.status.NotVerified = last.GuardedBy, nil
	m.status.Rollback = nil
	if last.Result != v1.TransactionRefused {
		m.status.Rollback = &v1.EnactmentRollback{Result: string(last.Result), Differences: last.Differences}
	}
	cause := last.Message
	if cause == "" {
		cause = fmt.Sprintf("the transaction ended as %s", last.Result)
	}
	next := failedRow(cause)
	switch {
	case last.Final:
	case len(last.Awaits) > 0:
		m.status.Retry.Awaits = last.Awaits
	default:
		m.status.Retry.After = retryTime(t.in.Now, retryDelay(t.in.Node, m.name, attempts))
		if attempts <= shownRetries {
			next = retryingRow(cause, attempts)
		}
	}
	m.show(next, t.in.Now)
	t.reportFailure(m, last, attempts)
}

// chargeable: the transaction that failed was of the policy's generation, or of an
// older one that says the same and was to come back.
func (t *turn) chargeable(m *member, source v1.Source) bool {
	same := source.Generation == m.policy.Generation || m.dropped && source.Hash == m.policy.Hash
	return t.ended() && same && t.in.State.Status.Transaction.Result != v1.TransactionCommitted
}

// reportFailure records events for the first failure and for a final one:
// the attempts between say nothing new.
func (t *turn) reportFailure(m *member, last *v1.Transaction, attempts int32) {
	t.note("policy %s: attempt %d of generation %d failed: %s", m.name, attempts, m.policy.Generation, last.Message)
	if attempts > 1 && !last.Final {
		return
	}
	message := oneLine(fmt.Sprintf("node %s: %s", t.in.Node, last.Message), 0)
	t.event(Event{Policy: m.name, Warning: true, Reason: EventReconcileFailed, Message: message})
	if last.Result == v1.TransactionRolledBack {
		t.event(Event{
			Policy: m.name, Reason: EventRolledBack,
			Message: fmt.Sprintf("node %s: generation %d was rolled back", t.in.Node, m.policy.Generation),
		})
	}
}

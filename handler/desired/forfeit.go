package desired

import v1 "github.com/nmstate/kubernetes-nmstate/api/v1"

// forfeit is about a policy that had given way to another one, came back into the
// spec when that went, and failed there: the node does not have it, so it stands in
// the enactment no longer. From then on it fails, waits and is tried again as any
// other: nobody else would do that, and the next policy's change would bring it along.
func (t *turn) forfeit() {
	if t.in.State == nil || !t.ended() || t.in.State.Status.Transaction.Result == v1.TransactionCommitted {
		return
	}
	alone := len(t.flights()) == 0
	for _, source := range t.in.State.Spec.Sources {
		m := t.byName[source.Policy]
		if m == nil || m.policy == nil || m.held == nil || m.held.Hash != source.Hash || t.committedBefore(source.Source) {
			continue
		}
		// Where another one was in flight, only what is known to have been under way.
		if alone || !m.changed() && conditionIs(m.enactment.Status.Conditions, v1.EnactmentProgressing, yes) {
			m.held, m.status.Committed, m.forfeited = nil, nil, true
			t.decision.Charges = true
			t.note("policy %s: generation %d did not come back", m.name, source.Generation)
		}
	}
}

// comeBack is about a policy that stopped selecting the node and selects it again while
// the node is taking it off: it is not committed there any more. Told so, a generation that
// says the same as the committed one would begin without a slot. In mode Plan nothing
// begins, and what is committed is kept.
func (t *turn) comeBack() {
	if t.in.State == nil {
		return
	}
	m := t.byName[t.in.State.Spec.Policy]
	if m == nil || m.policy == nil || m.plans() || m.held == nil || t.inSpec(m) {
		return
	}
	m.held, m.status.Committed = nil, nil
	t.superseded = t.superseded || !t.done()
	t.note("policy %s: it was leaving the node, so generation %d begins anew", m.name, m.policy.Generation)
}

// hasLeft tells of a policy that had stopped selecting the node, and selects it again
// before its enactment is gone: the node may have committed a spec without it. As
// long as it has not finished with the spec as it is, it may not have told that yet.
func (t *turn) hasLeft(m *member) bool {
	if t.in.State == nil {
		return false
	}
	if source, is := t.source(m.name); is && source.Hash == m.held.Hash && t.done() && (t.applied(source.Source) || t.committedBefore(source.Source)) {
		return false
	}
	whole := fold(t.committed())
	if t.inFlight != nil {
		whole = t.with(t.inFlight)
	}
	_, displaced := whole.conflictOf(m.name) // That one stands in the enactment until it comes back.
	return !displaced
}

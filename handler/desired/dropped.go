package desired

import v1 "github.com/nmstate/kubernetes-nmstate/api/v1"

// dropFailed takes what is committed of a policy out of its enactment. The policy had
// given way to another one, came back into the spec when that one went, and failed there,
// so the node does not have it. From now on it fails, waits and is tried again as any
// other: otherwise nobody would do that, and the next policy's change would bring it along.
func (t *turn) dropFailed() {
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
		if alone || !m.changed() && isTrue(m.enactment.Status.Conditions, v1.EnactmentProgressing) {
			m.held, m.status.Committed, m.dropped = nil, nil, true
			t.decision.Charges = true
			t.note("policy %s: generation %d did not come back", m.name, source.Generation)
		}
	}
}

// comeBack takes what is committed of a policy out of its enactment. The policy stopped
// selecting the node and selects it again while the node is taking it off. If it stayed
// there, a generation that says the same would begin without a slot. In mode Plan nothing
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

// withhold does not tell yet what a generation changes on the node while an older one, which
// says the same, comes back there: the policy it had given way to is gone. Told that nothing
// changes, the controllers would let it begin without a slot, also where the older one fails.
func (t *turn) withhold() {
	if t.in.State == nil || t.over() {
		return
	}
	for _, m := range t.members {
		same := m.held != nil && m.readable() && !m.plans() && !m.changed() && m.held.Generation != m.policy.Generation
		source, inSpec := t.source(m.name)
		if same && !m.approved() && inSpec && source.Hash == m.held.Hash && !t.committedBefore(source.Source) {
			m.status.Hash = ""
		}
	}
}

// hasLeft is true of a policy that stopped selecting the node, and selects it again before
// its enactment is gone: the node may have committed a spec without it. A node that has
// not finished with its present spec may not have reported that yet.
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

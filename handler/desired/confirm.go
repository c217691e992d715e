package desired

import (
	"slices"
	"strconv"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// confirm passes a person's word on a policy on to the node, where a change of
// this generation waits for it.
func (t *turn) confirm() {
	m := t.inFlight
	if m == nil || t.decision.Spec != nil || m.policy.Confirmed != m.policy.Generation || !t.managed() {
		return
	}
	waits := slices.ContainsFunc(t.in.State.Spec.Probes, func(p v1.Probe) bool { return p.Type == v1.ProbeConfirm })
	if waits && t.in.State.Annotations[v1.ConfirmAnnotation] != strconv.FormatInt(t.in.State.Generation, 10) {
		t.decision.Confirm = t.in.State.Generation
		t.note("policy %s: generation %d is confirmed", m.name, m.policy.Generation)
	}
}

// applying is the row of a policy that is under way: what the transaction
// waits for is in its message.
func (t *turn) applying(m *member) row {
	if m != t.inFlight || t.in.State.Status.Transaction == nil {
		return progressingRow()
	}
	running := t.in.State.Status.Transaction
	waits := running.Phase == "Probing" || running.Phase == v1.PhaseWaiting
	if running.Generation != t.in.State.Generation || !waits || running.Message == "" {
		return progressingRow()
	}
	return waitingRow(running.Message)
}

// edited tells whether somebody else wrote the node's desired state: it has no
// sources, or is not what its sources come to. When that is not known any
// more, nobody is suspected.
func (t *turn) edited() bool {
	spec := t.in.State.Spec
	if len(spec.Sources) == 0 {
		return !spec.DesiredState.IsZero()
	}
	whole, known := t.fold(v1.PlainSources(spec.Sources))
	return known && !sameDocument(spec.DesiredState.Raw, whole.state.JSON())
}

// contribution is what a source stands for.
func (t *turn) contribution(source v1.Source) (Contribution, bool) {
	m := t.byName[source.Policy]
	switch {
	case m == nil:
	case m.held != nil && m.held.Hash == source.Hash:
		return *m.held, true
	case m.policy != nil:
		return m.proposed(source)
	}
	return Contribution{}, false
}

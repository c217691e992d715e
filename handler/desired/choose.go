package desired

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// committed are the parts of the aggregate that the node has committed. A
// policy that is gone still counts until the node's spec is without it.
func (t *turn) committed() []Contribution {
	var all []Contribution
	for _, m := range t.members {
		if m.held != nil && (m.policy != nil || t.inSpec(m)) {
			all = append(all, *m.held)
		}
	}
	return all
}

func (t *turn) inSpec(m *member) bool {
	if t.in.State == nil {
		return false
	}
	_, is := t.source(m.name)
	return is
}

// with is the committed aggregate with the member's rendering in the place of
// what is committed of it; without leaves the member out.
func (t *turn) with(m *member) aggregate {
	return fold(append(t.others(m), m.rendered()))
}

func (t *turn) without(m *member) aggregate { return fold(t.others(m)) }

func (t *turn) others(m *member) []Contribution {
	return slices.DeleteFunc(t.committed(), func(c Contribution) bool { return c.Policy == m.name })
}

// choose decides what the node's desired state is now: the committed
// aggregate, or that with one policy changed.
func (t *turn) choose() {
	t.base = fold(t.committed())
	t.findConflicts()
	switch {
	case t.in.State == nil:
		t.waiting = messageNoState
		return
	case !t.managed():
		t.waiting = messageUnmanaged
		t.withdraw()
		return
	case t.inFlight != nil && t.keepInFlight():
		return
	case t.unrecorded:
		t.waiting = messageGoingBack
		return
	case t.goBack:
		t.waiting = messageGoingBack
		t.expect(t.base, nil)
		return
	case !t.superseded && !t.done() && t.specIs(t.base):
		t.waiting = messageGoingBack
		return
	}
	if name := t.removing(); name != "" {
		t.waiting = t.waitingToLeave(name)
		if t.edited() {
			t.overrule(t.byName[name])
		}
		return
	}
	if m := t.leaving(); m != nil {
		t.waiting = waitingFor(m)
		if t.saidOtherwise(m) {
			t.note("policy %s was edited and deleted: it leaves the node as it said at the end", m.name)
			t.saySo(m)
			return
		}
		t.note("policy %s leaves the node", m.name)
		t.expect(t.without(m), m)
		return
	}
	if m, target := t.candidate(); m != nil {
		t.chosen = m
		t.waiting = waitingFor(m)
		t.note("policy %s: generation %d is next", m.name, m.policy.Generation)
		t.expect(target, m)
		return
	}
	t.expect(t.base, nil)
}

// withdraw takes out of the spec of a node that is set aside what nobody wants there any
// more and it has not committed: managed again, its state handler would begin with that
// before anybody looks, and without a slot.
func (t *turn) withdraw() {
	untried := slices.ContainsFunc(t.in.State.Spec.Sources, func(s v1.DesiredSource) bool {
		return !t.applied(s.Source) && !t.committedBefore(s.Source)
	})
	if untried && t.inFlight == nil && !t.unrecorded && t.over() && !t.edited() {
		t.expect(t.base, nil)
	}
}

func waitingFor(m *member) string { return "Waiting for policy " + m.name + " to finish on this node" }

func (t *turn) managed() bool {
	managed := t.in.State.Spec.Managed
	return managed == nil || *managed
}

// removing is a policy that the state handler could not take off the node yet. It
// tries that again by itself until it gives up, and what is written meanwhile would
// be applied together with it, and fail with it.
func (t *turn) removing() string {
	last := t.in.State.Status.Transaction
	if last == nil || !last.IsUnderWay() && last.RetryAfter == nil || !t.specIs(t.base) && !t.edited() {
		return ""
	}
	for _, applied := range t.in.State.Status.AppliedSources {
		_, stays := t.source(applied.Policy)
		m := t.byName[applied.Policy]
		returns := m != nil && m.changed() && m.approved()
		if !stays && !returns {
			return applied.Policy
		}
	}
	return ""
}

// overrule replaces what somebody wrote over a removal, so that the removal has a
// transaction of its own (design §2, rule 1). Where no policy is left and none waits, what
// was written is first tried together with the removal, and is replaced when that fails:
// the removal would fail with it each time, for ever.
func (t *turn) overrule(leaving *member) {
	next, _ := t.candidate()
	if next != nil || len(t.base.members) > 0 || t.ended() {
		t.decision.Spec, t.decision.Overruled = t.specOf(t.base, leaving), true
	}
}

func (t *turn) waitingToLeave(policy string) string {
	line := "Waiting for policy " + policy + " to leave this node"
	if c := v1.TrueCondition(t.in.State.Status.Conditions, v1.StateFailing); c != nil {
		line += ", which is tried again: " + c.Message
	}
	return line
}

// keepInFlight makes sure that the spec still is what the policy in flight
// needs. It gives up on a policy that has come into conflict meanwhile.
func (t *turn) keepInFlight() bool {
	target := t.with(t.inFlight)
	if conflict, is := target.conflictOf(t.inFlight.name); is {
		t.inFlight.conflict = &conflict
		t.inFlight, t.superseded = nil, true
		return false
	}
	t.waiting = waitingFor(t.inFlight)
	t.expect(target, t.inFlight)
	return true
}

// leaving is the first policy that is gone and still in the node's spec, and does not wait
// for its turn.
func (t *turn) leaving() *member {
	for _, m := range t.members {
		if m.policy == nil && t.inSpec(m) && (!t.waitsToLeave(m) || t.saidOtherwise(m)) {
			return m
		}
	}
	return nil
}

// candidate is the first policy that may be changed on the node now, and what
// the node's state is then.
func (t *turn) candidate() (*member, aggregate) {
	for _, m := range t.members {
		if !m.changed() || !m.approved() || m.conflict != nil || m.unpinned != "" || m.planWaits != "" {
			continue
		}
		if wait, ever := m.retryIn(t.in.Now); !ever || wait > 0 {
			continue
		}
		target := t.with(m)
		if m.planWaits = t.makesWay(target, m); m.planWaits != "" {
			continue
		}
		if conflict, is := target.conflictOf(m.name); is {
			m.conflict = &conflict
			continue
		}
		if size := t.specOf(target, m).size(); size > maxSpec {
			m.conflict = &Conflict{Policy: m.name, Size: size}
			continue
		}
		return m, target
	}
	return nil, aggregate{}
}

// findConflicts judges every changed policy against what the node's policies
// are about to be: those that failed here or shall not begin count with what
// is committed of them, so that a bad policy keeps no other one out.
func (t *turn) findConflicts() {
	var intended []Contribution
	anyChanged := false
	for _, m := range t.members {
		switch {
		case m.policy == nil:
		case m.changed() && !m.failed() && !m.aborted():
			anyChanged = true
			intended = append(intended, m.rendered())
		case m.held != nil:
			intended = append(intended, *m.held)
		}
	}
	if !anyChanged {
		return
	}
	for _, conflict := range fold(intended).conflicts {
		if m := t.byName[conflict.Policy]; m.changed() && !m.failed() && m != t.inFlight {
			m.conflict = &conflict
		}
	}
}

// expect writes the node's spec unless it already is the target. A desired
// state that no policy had a part in is somebody's own, and stays.
func (t *turn) expect(target aggregate, changed *member) {
	spec := t.in.State.Spec
	if changed == nil && len(target.members) == 0 && len(spec.Sources) == 0 {
		return
	}
	told := func() bool { // Also by whom, and what it refers to.
		return equality.Semantic.DeepEqual(spec.Sources, t.withGenerations(t.sourcesOf(target))) && t.hasSecrets(target)
	}
	if t.specIs(target) && (t.inFlight != nil || told()) {
		return
	}
	t.decision.Spec, t.decision.Overruled = t.specOf(target, changed), t.edited()
}

// specOf is the spec that asks for the target.
func (t *turn) specOf(target aggregate, changed *member) *Spec {
	next := &Spec{Sources: t.sourcesOf(target)}
	if len(target.members) > 0 {
		next.DesiredState = v1.NewState(target.state.JSON())
	}
	next.Secrets = t.secretsOf(target)
	if changed != nil {
		next.Policy = changed.name
		if changed.policy != nil {
			next.UID, next.Generation = changed.policy.UID, changed.policy.Generation
			next.TakeOver = changed.isTakenOver()
			next.ProbeTimeoutSeconds = changed.policy.ProbeTimeoutSeconds
			next.Probes, next.DefaultProbes = changed.policy.Probes, changed.policy.DefaultProbes
		} else if changed.enactment != nil {
			next.UID = ownerUID(changed.enactment)
		}
	}
	return next
}

// specIs compares what the node's spec is made of, and the document itself,
// since a person may have edited it.
func (t *turn) specIs(target aggregate) bool {
	spec := t.in.State.Spec
	same := slices.EqualFunc(spec.Sources, target.members, func(a v1.DesiredSource, b Contribution) bool {
		return a.Policy == b.Policy && a.Hash == b.Hash
	})
	if !same || len(target.members) == 0 {
		return same
	}
	return sameDocument(spec.DesiredState.Raw, target.state.JSON())
}

// sourcesOf are the target's sources. What becomes of a policy's configuration
// is always as the policy says now; of one that is gone or only looked at, as
// it said last; where that is not known (it comes back), as it says now.
func (t *turn) sourcesOf(target aggregate) []v1.DesiredSource {
	var sources []v1.DesiredSource
	owned := target.owned()
	for i, c := range target.members {
		source := v1.DesiredSource{
			Source: v1.Source{Policy: c.Policy, Generation: c.Generation, Hash: c.Hash},
			Paths:  state.WrittenPaths(owned[i]),
		}
		m := t.byName[c.Policy]
		says := m != nil && m.policy != nil
		if last, is := t.source(c.Policy); is && (!says || m.plans()) {
			source.OnDelete, source.Drift, source.DefaultProbes = last.OnDelete, last.Drift, last.DefaultProbes
			if word, known := t.lastWord(m); known {
				source.OnDelete = word
			}
		} else if says {
			source.OnDelete, source.Drift, source.DefaultProbes = m.policy.OnDelete, m.policy.Drift, m.policy.DefaultProbes
		}
		sources = append(sources, source)
	}
	return sources
}

// lastWord is what a deleted policy said at the end of what becomes of its configuration.
func (t *turn) lastWord(m *member) (onDelete string, known bool) {
	if m == nil || m.policy != nil {
		return "", false
	}
	onDelete, known = t.in.LastWords[m.name]
	return onDelete, known
}

// saidOtherwise tells whether the node would undo a deleted policy that is to stay, or the
// other way round. Then its spec has to say what the policy said before it leaves.
func (t *turn) saidOtherwise(m *member) bool {
	word, known := t.lastWord(m)
	last, is := t.source(m.name)
	return known && is && (m.held != nil || t.applied(last.Source)) && (word == v1.OnDeleteRevert) != (last.OnDelete == v1.OnDeleteRevert)
}

// saySo writes what a policy said at the end of what becomes of its configuration into the
// node's spec. Its enactment may not tell yet that the node has committed it.
func (t *turn) saySo(m *member) {
	if m.held != nil {
		t.expect(t.base, nil)
		return
	}
	spec := t.in.State.Spec
	sources := slices.Clone(spec.Sources)
	for i := range sources {
		if sources[i].Policy == m.name {
			sources[i].OnDelete, _ = t.lastWord(m)
		}
	}
	next := &Spec{DesiredState: spec.DesiredState, Sources: sources, Secrets: spec.Secrets, Policy: m.name}
	if m.enactment != nil {
		next.UID = ownerUID(m.enactment)
	}
	t.decision.Spec = next
}

// source finds a policy among the sources of the node's spec.
func (t *turn) source(policy string) (v1.DesiredSource, bool) {
	for _, s := range t.in.State.Spec.Sources {
		if s.Policy == policy {
			return s, true
		}
	}
	return v1.DesiredSource{}, false
}

// withGenerations are the sources with the generations that the node's spec
// has: a generation that says the same is not worth a write.
func (t *turn) withGenerations(sources []v1.DesiredSource) []v1.DesiredSource {
	same := slices.Clone(sources)
	for i := range same {
		if last, is := t.source(same[i].Policy); is {
			same[i].Generation = last.Generation
		}
	}
	return same
}

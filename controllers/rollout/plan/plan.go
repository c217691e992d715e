package plan

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// DefaultGrace is long enough for a node that joins to get its handler, and for one
// that goes down to boot.
const DefaultGrace = 10 * time.Minute

// Node is what a plan needs to know of a node.
type Node struct {
	Name string
	// Ready as the node's condition tells. A node that is not Ready is not
	// granted anything new.
	Ready bool
	// Matches: the policy selects the node.
	Matches bool
	// Since is when Ready changed last, and Created when the node joined; zero where
	// that is not known.
	Since, Created time.Time
	// NotReadyFor is how long this process has seen it not Ready; zero for a node
	// that is Ready. Since is by another machine's clock, and only told.
	NotReadyFor time.Duration
	// Silent tells that no handler runs there; nil where one does, and where that is not
	// known.
	Silent *Silence
	// Unreported: there is no NodeNetworkState of it, so no handler has spoken there.
	Unreported bool
	// ControlPlane: the cluster's control plane runs there, and mostly a member of its etcd.
	ControlPlane bool
	// Taken is what keeps its enactment from being made: the names that it may have are
	// those of others. Empty for nothing.
	Taken string
}

// Silence of a node that has no handler.
type Silence struct {
	// For is how long this process has seen it so.
	For time.Duration
	// Cause says what is seen instead of the handler.
	Cause string
}

// Input is everything that a plan depends on. Plan changes nothing in it.
type Input struct {
	Policy *v1.NodeNetworkConfigurationPolicy
	// Nodes that the policy selects, and the others that have an enactment of
	// it. A node with an enactment that is not here is deleted.
	Nodes []Node
	// Enactments of the policy, all of them.
	Enactments []v1.NodeNetworkConfigurationEnactment
	// ControlPlane of the cluster, also where the policy does not select its nodes.
	ControlPlane ControlPlane
	// Newest: the API server itself has no newer generation of the policy.
	Newest bool
	// Unsure are nodes to which a grant was written that may be there, and is not
	// seen.
	Unsure map[string]bool
	// Configured is for how long nodes are configured, as this process saw it, for
	// spec.rollout.soakSeconds. Of a node that is not in it the enactment tells, by another clock.
	Configured map[string]time.Duration
	// Refused says why nodes cannot be selected at all, in one line; empty
	// when they can.
	Refused string
	// Installed is when the cluster's first handler spoke: the age of the oldest
	// NodeNetworkState, zero for none.
	Installed time.Time
	// Grace is how long a node may be without a handler until nobody waits for it, and
	// how long one that died in the middle of the change keeps its slot.
	Grace time.Duration
	// Now is used for the times in conditions, and decides which nodes have been
	// configured for spec.rollout.soakSeconds, and whose Grace is over.
	Now metav1.Time
}

// Warning is an event about the policy; the zero value is none.
type Warning struct{ Reason, Message string }

// Output is what is to be written. Nodes are in the order of the decision.
type Output struct {
	// Generation of the policy that the plan is about.
	Generation int64
	// Grants are the nodes whose enactment gets approvedGeneration, and loses
	// an abortedGeneration.
	Grants []string
	// Hashes are the approvedHash of those grants that are for one rendering
	// only; the others lose theirs.
	Hashes map[string]string
	// Aborts are the nodes whose enactment gets abortedGeneration.
	Aborts []string
	// AbortedCause is the first node that fails, and why.
	AbortedCause string
	// Unaborts are the nodes whose enactment loses its abortedGeneration
	// without a grant: they wait again.
	Unaborts []string
	// Leaves are the nodes whose enactment gets leave: they may undo the policy, which is
	// gone there. Stays are those that lose it, since the policy selects them again.
	Leaves, Stays []string
	// Status of the policy once the decisions above are written.
	Status v1.NodeNetworkConfigurationPolicyStatus
	// StatusChanged: Status differs from the policy's in more than its times.
	StatusChanged bool
	// StatusUrgent: a condition's status or reason differs, or the generation,
	// so that somebody may be waiting for it. Otherwise only numbers moved.
	StatusUrgent bool
	// Warning is set in the plan that begins to abort, or that first refuses.
	Warning Warning
	// RequeueAfter is when time alone changes the plan; 0 means never.
	RequeueAfter time.Duration
	// Notes are the decisions in words, one line each.
	Notes []string
}

// Make decides the next step of a policy's rollout. Writing what it returns
// and planning again decides nothing new until something else changes.
//
// A policy that was read at an older generation than its enactments tell of is
// left alone: Output has a note and nothing to write. Where the policy is sure to be
// the newest, such a node is ignored until it tells of a generation that exists.
func Make(in Input) Output {
	p := planning{in: in, out: Output{Generation: in.Policy.Generation}}
	newer := NewerThanPolicy(in)
	if newer != "" && in.Newest {
		p.note("ignore: %s tells of a newer generation than the policy's, %d, which is its newest", newer, in.Policy.Generation)
	} else if newer != "" {
		p.out.Status = in.Policy.Status
		p.note("wait: %s is at a newer generation than the policy as read, %d", newer, in.Policy.Generation)
		return p.out
	}
	p.places = placesOf(in)
	p.look()
	p.letLeave()
	limit, meaning, err := maxUnavailable(in.Policy, p.countTakingPart())
	switch {
	case in.Refused != "":
		p.refuse(in.Refused)
	case err != nil:
		p.refuse(err.Error())
	case in.Policy.Spec.Mode == modePlan:
		p.noteNotReady()
		p.setStatus(p.planVerdict(p.tally()))
	default:
		p.limit, p.meaning = limit, meaning
		p.decide()
		p.setStatus(p.verdict(p.tally()))
	}
	return p.out
}

// planning is one run of Make.
type planning struct {
	in    Input
	limit int
	// meaning is what spec.maxUnavailable counts as, where it says something else.
	meaning string
	places  []place
	steps   steps
	// spared is what nodes of the control plane wait for; empty for nothing.
	spared string
	out    Output
}

func (p *planning) note(format string, arguments ...any) {
	p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, arguments...))
}

func (p *planning) refuse(message string) {
	p.note("refuse: %s", message)
	counts := p.tally()
	p.setStatus(verdict{
		state: failed, message: message, counts: counts.PolicyCounts,
		nodes: fmt.Sprintf("%d/%d", counts.Available, counts.all), detail: message,
	})
	if p.out.StatusUrgent {
		p.out.Warning = Warning{Reason: "ReconcileFailed", Message: message}
	}
}

func (p *planning) decide() {
	if p.countMatching() == 0 {
		p.note("ignore: no node matches")
		return
	}
	p.steps = p.findSteps()
	p.grantUnchanged()
	failing, canaries := p.names(place.fails), p.names(place.failsAsCanary)
	lost := p.names(place.isLost)
	bad := slices.Concat(failing, lost)
	switch {
	case len(failing) >= p.limit:
		p.abortRest(fmt.Sprintf("%d of at most %d unavailable nodes fail: %s", len(failing), p.limit, list(failing)))
	case len(bad) >= max(p.limit, leastLost):
		p.abortRest(fmt.Sprintf("%d of at most %d unavailable nodes fail or died in the middle of it: %s", len(bad), p.limit, list(bad)))
	case p.steps.first && len(canaries) > 0:
		p.abortRest(fmt.Sprintf("%d of %d canary nodes fail: %s", len(canaries), p.steps.canaries, list(canaries)))
	default:
		p.grantNext(len(failing))
	}
	p.requeue()
	p.noteNotReady()
}

// abortRest tells every node that has not begun to stay as it is.
func (p *planning) abortRest(reason string) {
	p.abort(reason, func(place) bool { return true })
}

func (p *planning) abort(reason string, which func(place) bool) {
	before := len(p.names(isAborted))
	for i := range p.places {
		place := &p.places[i]
		if !place.mayBeWritten() || place.phase != waiting || place.unmanaged || !which(*place) {
			continue
		}
		place.phase = aborted
		p.out.Aborts = append(p.out.Aborts, place.Name)
	}
	p.out.AbortedCause = shortened(p.firstCause())
	if len(p.out.Aborts) == 0 {
		p.note("halt: %s", reason)
		return
	}
	p.note("abort %s: %s", list(p.out.Aborts), reason)
	if before == 0 {
		p.out.Warning = Warning{Reason: "Aborted", Message: fmt.Sprintf(
			"generation %d is not begun on %s: %s", p.out.Generation, list(p.out.Aborts), reason)}
	}
}

// grantUnchanged grants what needs no slot: nodes on which the generation comes
// to what they have committed. The grant is for that rendering only.
func (p *planning) grantUnchanged() {
	var granted []string
	for i := range p.places {
		place := &p.places[i]
		if place.mayBegin() && place.unchanged {
			p.grant(place, place.hash)
			granted = append(granted, place.Name)
		}
	}
	if len(granted) > 0 {
		p.note("grant %s: nothing changes there, so without a slot", list(granted))
	}
}

func (p *planning) grant(place *place, hash string) {
	place.phase = working
	place.approved = true
	p.out.Grants = append(p.out.Grants, place.Name)
	if hash == "" {
		return
	}
	if p.out.Hashes == nil {
		p.out.Hashes = map[string]string{}
	}
	p.out.Hashes[place.Name] = hash
}

// grantNext hands out the free slots, as far as the steps have room. Nodes that
// are changing already come first: they occupy a slot anyway.
func (p *planning) grantNext(failing int) {
	occupied, holders, room := len(p.names(place.occupies)), len(p.names(place.holdsSlot))+len(p.names(place.leaves)), p.steps.room
	if kept := len(p.names(place.isLost)) - 1; kept > 0 { // Only the first of them gave it back.
		occupied, holders = occupied+kept, holders+kept
	}
	var wait []string
	quorum := p.quorum()
	if quorum.fails {
		p.abort(quorum.reason(), quorum.spares)
	}
	for _, i := range p.candidates() {
		place := &p.places[i]
		if quorum.spares(*place) {
			continue
		}
		free := occupied < p.limit
		if place.changing {
			// It occupies a slot anyway. One that may only be about to begin gets no right
			// from that where an edit has lowered the limit meanwhile.
			free = holders < p.limit && (place.inMidChange || occupied <= p.limit)
		}
		if !free || room == 0 {
			wait = append(wait, place.Name)
			continue
		}
		if !quorum.admits(place) {
			continue
		}
		if !place.changing {
			occupied++
		}
		holders++
		room--
		p.noteGrant(place, occupied)
		p.grant(place, place.grantedRendering())
		quorum.grant(place)
	}
	if p.spared = quorum.String(); p.spared != "" {
		p.note("wait %s", p.spared)
	}
	p.unabort(failing, quorum)
	if silent := p.names(place.silent); len(silent) > 0 {
		p.note("wait %s: not told yet what generation %d changes there", list(silent), p.out.Generation)
	}
	switch {
	case len(wait) == 0:
	case room == 0 && p.steps.hold != "":
		p.note("wait %s: %s", list(wait), p.steps.hold)
	default:
		p.note("wait %s: %d of %d slots held: %s", list(wait), occupied, p.limit, list(p.describe(place.occupies)))
	}
}

func (p *planning) noteGrant(place *place, occupied int) {
	switch {
	case place.changing:
		p.note("grant %s: it may be changing already, for an older generation", place.Name)
	case place.phase == aborted:
		p.note("grant %s: slot %d of %d, aborted before", place.Name, occupied, p.limit)
	default:
		p.note("grant %s: slot %d of %d", place.Name, occupied, p.limit)
	}
}

// candidates are the places that may be granted a slot, in the order of
// granting.
func (p *planning) candidates() []int {
	var changing, others []int
	for i, place := range p.places {
		switch {
		case !place.mayBegin() || place.silent():
		case place.changing:
			changing = append(changing, i)
		default:
			others = append(others, i)
		}
	}
	return slices.Concat(changing, others)
}

// unabort lets those that are aborted and were not granted wait again.
func (p *planning) unabort(failing int, quorum *quorum) {
	for i := range p.places {
		if place := &p.places[i]; place.mayBeWritten() && place.phase == aborted && !quorum.spares(*place) {
			place.phase = waiting
			p.out.Unaborts = append(p.out.Unaborts, place.Name)
		}
	}
	if len(p.out.Unaborts) > 0 {
		p.note("unabort %s: %d nodes fail, fewer than %d", list(p.out.Unaborts), failing, p.limit)
	}
}

func (p *planning) noteNotReady() {
	if ignored := p.names(place.ignored); len(ignored) > 0 {
		p.note("leave out %s: not Ready", list(ignored))
	}
	if unmanaged := p.names(place.isUnmanaged); len(unmanaged) > 0 {
		p.note("leave out %s: not managed", list(unmanaged))
	}
	if lost := p.names(place.isLost); len(lost) > 0 {
		p.note("do not wait for %s: in the middle of the change, and no answer for %v", list(lost), p.patience())
	}
	if absent := p.names(place.absent); len(absent) > 0 {
		p.note("wait for the enactment of %s", list(absent))
	}
}

package rollout

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Node is what a plan needs to know of a node.
type Node struct {
	Name string
	// Ready as the node's condition tells. A node that is not Ready is not
	// granted anything new.
	Ready bool
	// Matches: the policy selects the node.
	Matches bool
}

// Input is everything that a plan depends on. Plan changes nothing in it.
type Input struct {
	Policy *v1.NodeNetworkConfigurationPolicy
	// Nodes that the policy selects, and the others that have an enactment of
	// it. A node with an enactment that is not here is deleted.
	Nodes []Node
	// Enactments of the policy, all of them.
	Enactments []v1.NodeNetworkConfigurationEnactment
	// Refused says why nodes cannot be selected at all, in one line; empty
	// when they can.
	Refused string
	// Now is used for the times in conditions and decides nothing.
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
	// Aborts are the nodes whose enactment gets abortedGeneration.
	Aborts []string
	// Unaborts are the nodes whose enactment loses its abortedGeneration
	// without a grant: they wait again.
	Unaborts []string
	// Status of the policy once the decisions above are written.
	Status v1.NodeNetworkConfigurationPolicyStatus
	// StatusChanged: Status differs from the policy's in more than its times.
	StatusChanged bool
	// StatusUrgent: a condition's status or reason differs, or the generation,
	// so that somebody may be waiting for it. Otherwise only numbers moved.
	StatusUrgent bool
	// Warning is set in the plan that begins to abort, or that first refuses.
	Warning Warning
	// Notes are the decisions in words, one line each.
	Notes []string
}

// Plan decides the next step of a policy's rollout. Writing what it returns
// and planning again decides nothing new until something else changes.
//
// A policy that was read at an older generation than its enactments tell of is
// left alone: Output has a note and nothing to write.
func Plan(in Input) Output {
	p := planning{in: in, out: Output{Generation: in.Policy.Generation}}
	if newer := newerThanPolicy(in); newer != "" {
		p.out.Status = in.Policy.Status
		p.note("wait: %s is at a newer generation than the policy as read, %d", newer, in.Policy.Generation)
		return p.out
	}
	p.places = placesOf(in)
	limit, err := maxUnavailable(in.Policy, p.countMatching())
	switch {
	case in.Refused != "":
		p.refuse(in.Refused)
	case err != nil:
		p.refuse(err.Error())
	default:
		p.limit = limit
		p.decide()
		p.setStatus(verdictOf(p.tally()))
	}
	return p.out
}

// planning is one run of Plan.
type planning struct {
	in     Input
	limit  int
	places []place
	out    Output
}

func (p *planning) note(format string, arguments ...any) {
	p.out.Notes = append(p.out.Notes, fmt.Sprintf(format, arguments...))
}

func (p *planning) refuse(message string) {
	p.note("refuse: %s", message)
	counts := p.tally()
	p.setStatus(verdict{state: failed, message: message, counts: counts.PolicyCounts})
	if p.out.StatusUrgent {
		p.out.Warning = Warning{Reason: "ReconcileFailed", Message: message}
	}
}

func (p *planning) decide() {
	if p.countMatching() == 0 {
		p.note("ignore: no node matches")
		return
	}
	if failing := p.names(isFailing); len(failing) >= p.limit {
		p.abortRest(failing)
	} else {
		p.grantNext(len(failing))
	}
	p.noteNotReady()
}

// abortRest tells every node that has not begun to stay as it is.
func (p *planning) abortRest(failing []string) {
	before := len(p.names(isAborted))
	for i := range p.places {
		place := &p.places[i]
		if !place.mayBeWritten() || place.phase != waiting {
			continue
		}
		place.phase = aborted
		p.out.Aborts = append(p.out.Aborts, place.Name)
	}
	reason := fmt.Sprintf("%d of at most %d unavailable nodes fail: %s", len(failing), p.limit, list(failing))
	switch {
	case len(p.out.Aborts) > 0:
		p.note("abort %s: %s", list(p.out.Aborts), reason)
		if before == 0 {
			p.out.Warning = Warning{Reason: "Aborted", Message: fmt.Sprintf(
				"generation %d is not begun on %s: %s", p.out.Generation, list(p.out.Aborts), reason)}
		}
	default:
		p.note("halt: %s", reason)
	}
}

// grantNext hands out the free slots. Nodes that are changing already come
// first: they occupy a slot anyway.
func (p *planning) grantNext(failing int) {
	held := p.names(place.occupies)
	holders := len(p.names(place.holds))
	occupied := len(held)
	var wait []string
	for _, i := range p.candidates() {
		place := &p.places[i]
		free := occupied < p.limit
		if place.changing {
			free = holders < p.limit
		}
		if !free {
			wait = append(wait, place.Name)
			if place.phase == aborted {
				p.out.Unaborts = append(p.out.Unaborts, place.Name)
			}
			place.phase = waiting
			continue
		}
		if !place.changing {
			occupied++
		}
		holders++
		p.noteGrant(place, occupied)
		place.phase = working
		place.approved = true
		p.out.Grants = append(p.out.Grants, place.Name)
	}
	p.unabortNotReady()
	if len(p.out.Unaborts) > 0 {
		p.note("unabort %s: %d nodes fail, fewer than %d", list(p.out.Unaborts), failing, p.limit)
	}
	if len(wait) > 0 {
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

// candidates are the places that may be granted, in the order of granting.
func (p *planning) candidates() []int {
	var changing, others []int
	for i, place := range p.places {
		switch {
		case !place.mayBeWritten() || !place.Ready || (place.phase != waiting && place.phase != aborted):
		case place.changing:
			changing = append(changing, i)
		default:
			others = append(others, i)
		}
	}
	return slices.Concat(changing, others)
}

func (p *planning) unabortNotReady() {
	for i := range p.places {
		if place := &p.places[i]; place.mayBeWritten() && !place.Ready && place.phase == aborted {
			place.phase = waiting
			p.out.Unaborts = append(p.out.Unaborts, place.Name)
		}
	}
}

func (p *planning) noteNotReady() {
	if left := p.names(place.ignored); len(left) > 0 {
		p.note("leave out %s: not Ready", list(left))
	}
	if absent := p.names(place.absent); len(absent) > 0 {
		p.note("wait for the enactment of %s", list(absent))
	}
}

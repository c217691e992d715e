package plan

import (
	"fmt"
	"time"
)

// leastLost is how many nodes that died in the middle of the change stop it, where
// maxUnavailable is less: one may be chance.
const leastLost = 2

// look finds the nodes that cannot answer, and asks for the next plan when time
// alone makes another one such a node.
func (p *planning) look() {
	for i := range p.places {
		place := &p.places[i]
		p.lookForLife(place)
		p.lookForHandler(place) // Of one that died nothing is under way any more.
		p.lookForPredecessor(place)
	}
}

// lookForHandler tells a node that nobody manages from one whose handler is still to
// come, or comes back. A node has Grace from when it joined, and from when the first
// handler of the cluster spoke: on the day of an installation no node has one yet. And
// it has Grace from when its handler was last seen to run.
func (p *planning) lookForHandler(place *place) {
	idle := place.phase == waiting || place.phase == aborted
	if !place.Matches || !place.Ready || !idle || place.changing {
		return
	}
	if place.setAside {
		place.unmanaged = true
		return
	}
	if place.Silent != nil && p.hasPassed(place.Silent.For, p.in.Grace) {
		place.unmanaged = true
		return
	}
	if !place.Unreported || p.in.Installed.IsZero() || place.Created.IsZero() {
		return
	}
	since := place.Created
	if p.in.Installed.After(since) {
		since = p.in.Installed
	}
	place.unmanaged = p.isOver(since, p.in.Grace)
}

// lookForLife finds nodes that died, or whose handler did, while they were changing. One
// that was granted this generation is lost; one that was changing for an older one
// stands in nobody's way any more.
func (p *planning) lookForLife(place *place) {
	inside := place.approved && place.phase == working && !place.unchanged && !place.retrying
	if !place.away() || !inside && !place.changing || !p.hasPassed(place.awayFor(), p.patience()) {
		return
	}
	place.lost = inside && place.Matches
	place.changing, place.undoes = false, false
	place.unmanaged = place.lost && place.Ready // It is there, and nobody manages it.
}

// away: nobody on the node can answer now.
func (p place) away() bool { return !p.Ready && !p.Since.IsZero() || p.Silent != nil }

// awayFor is since when. A machine takes its handler with it when it goes, so what began
// first counts.
func (p place) awayFor() time.Duration {
	if p.Silent == nil {
		return p.NotReadyFor
	}
	return max(p.NotReadyFor, p.Silent.For)
}

// longestWindow is the most that a policy's probeTimeoutSeconds may say.
const longestWindow = 30 * time.Minute

// lookForPredecessor: what a node tells of a deleted policy of the same name is over when
// this one has been there for longer than a change can take. A handler that runs
// removes it in seconds; where none does, it would stand in the way for good.
func (p *planning) lookForPredecessor(place *place) {
	if p.in.Policy == nil {
		return
	}
	made := p.in.Policy.CreationTimestamp.Time
	if place.changing && !place.enacted && !made.IsZero() && p.isOver(made, p.in.Grace+longestWindow) {
		place.changing, place.undoes = false, false
	}
}

// patience is longer than a change can be on trial: a node that the change cut off
// has taken it back by then.
func (p *planning) patience() time.Duration {
	patience := p.in.Grace
	if p.in.Policy == nil { // What is undone has the window of a policy that says nothing.
		return patience
	}
	if window := p.in.Policy.Spec.ProbeTimeoutSeconds; window != nil {
		patience += time.Duration(*window) * time.Second
	}
	return patience
}

// isOver tells whether so much time has passed; if not, it is planned again then.
func (p *planning) isOver(since time.Time, span time.Duration) bool {
	return p.hasPassed(p.in.Now.Sub(since), span)
}

func (p *planning) hasPassed(passed, span time.Duration) bool {
	remaining := span - passed
	if remaining <= 0 {
		return true
	}
	p.planAfter(remaining)
	return false
}

// planAfter asks for the next plan.
func (p *planning) planAfter(after time.Duration) {
	if p.out.RequeueAfter == 0 || after < p.out.RequeueAfter {
		p.out.RequeueAfter = after
	}
}

func (p place) isUnmanaged() bool { return p.unmanaged }

func (p place) isLost() bool { return p.lost }

// lostCause is the first node, by name, that died in the middle of the change.
func (p *planning) lostCause() string {
	for _, place := range p.places {
		switch {
		case place.lost && place.Ready:
			return fmt.Sprintf("%s: no handler runs there, in the middle of generation %d: %s", place.Name, p.out.Generation, place.Silent.Cause)
		case place.lost:
			return fmt.Sprintf("%s: not Ready since %s, in the middle of generation %d", place.Name,
				place.Since.UTC().Format(time.RFC3339), p.out.Generation)
		}
	}
	return ""
}

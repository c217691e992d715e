package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// steps is where the rollout is in the steps of spec.rollout.
type steps struct {
	// canaries is how many nodes go first.
	canaries int
	// first: they are not all done.
	first bool
	// room is how many nodes may begin now, if there are slots for them.
	room int
	// paused: a person has to let it go on.
	paused bool
	// hold is why there is no room, in words.
	hold string
}

// findSteps derives them from the nodes as they are. Which nodes are
// canaries is not written down: those that begin first are, and a node that has
// what the generation comes to counts as one of them. So an edit that only lets
// a paused rollout go on does not start over.
func (p *planning) findSteps() steps {
	s := steps{room: len(p.places)}
	rules := p.in.Policy.Spec.Rollout
	if rules == nil {
		return s
	}
	done := len(p.names(place.done))
	if rules.Canary != nil {
		// A node whose handler is still to come may be one of them.
		s.canaries = min(int(*rules.Canary), len(p.names(func(p place) bool { return p.Matches && !p.unmanaged })))
		s.first = done < s.canaries
	}
	switch {
	case rules.Paused:
		s.room, s.paused = 0, true
		s.hold = "paused; remove spec.rollout.paused to go on"
	case s.first:
		// Who has not told yet may turn out to have it.
		s.room = max(0, s.canaries-len(p.names(place.begun))-len(p.names(place.silent)))
		s.hold = fmt.Sprintf("%d of %d canary nodes done", done, s.canaries) + p.holdUp(rules.SoakSeconds)
	case rules.PauseAfterCanary && s.canaries > 0:
		s.room, s.paused = 0, true
		s.hold = fmt.Sprintf("paused after %d canary nodes; remove spec.rollout.pauseAfterCanary to go on", s.canaries)
	}
	return s
}

// holdUp names what a person cannot see in the canary nodes' enactments.
func (p *planning) holdUp(soakSeconds int32) string {
	text := ""
	if soakSeconds > 0 {
		text = fmt.Sprintf(", which takes %d s once configured", soakSeconds)
	}
	if away := p.names(func(p place) bool { return p.has() && !p.Ready }); len(away) > 0 {
		text += fmt.Sprintf(" (configured and not Ready: %s)", list(away))
	}
	if silent := p.names(place.silent); len(silent) > 0 {
		text += fmt.Sprintf(" (not told yet what it changes there: %s)", list(silent))
	}
	return text
}

// requeue asks for the next plan when a node that others wait for has soaked.
func (p *planning) requeue() {
	waits := len(p.names(func(p place) bool { return p.Matches && p.Ready && p.phase == waiting })) > 0
	if !waits {
		return
	}
	for _, place := range p.places {
		if place.has() && place.soak > 0 {
			p.planAfter(place.soak)
		}
	}
}

// readSoak tells how long the node's configuration still has to prove itself.
func (p *place) readSoak(enactment *v1.NodeNetworkConfigurationEnactment, in Input) {
	if in.Policy == nil {
		return
	}
	rules := in.Policy.Spec.Rollout
	if rules == nil || rules.SoakSeconds == 0 || !p.has() {
		return
	}
	soak := time.Duration(rules.SoakSeconds) * time.Second
	lasted, seen := in.Configured[enactment.Node()]
	if !seen {
		lasted = in.Now.Sub(ConfiguredSince(enactment).Time)
	}
	p.soak = min(soak, max(0, soak-lasted)) // The node's clock is another one: it may be ahead of ours.
}

// ConfiguredSince is when the node was configured, by the clock of whoever wrote it; zero
// where it is not.
func ConfiguredSince(enactment *v1.NodeNetworkConfigurationEnactment) metav1.Time {
	if committed := enactment.Status.Committed; committed != nil && !committed.Since.IsZero() {
		return committed.Since
	}
	if is := v1.FindCondition(enactment.Status.Conditions, v1.EnactmentAvailable); is != nil {
		return is.LastTransitionTime
	}
	return metav1.Time{}
}

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// firstCause is the first node, by name, on which the policy fails, and why; where it
// fails on none, the first that died in the middle of it.
func (p *planning) firstCause() string {
	for _, place := range p.places {
		switch {
		case place.Matches && place.Taken != "":
			return place.Name + ": " + place.Taken
		case isFailing(place) && place.cause != "":
			return place.Name + ": " + place.cause
		}
	}
	return p.lostCause()
}

// retried tells of a failed policy that is not at its end: every node on which it
// fails tries again by itself. Where that time is over and nothing has begun, something
// else keeps it back, as a conflict does.
func (p *planning) retried() v1.ConditionReason {
	failing, now := p.names(isFailing), p.in.Now.Time
	if len(failing) == 0 || len(p.names(func(p place) bool { return isFailing(p) && p.nextTry != nil && p.nextTry.After(now) })) < len(failing) {
		return ""
	}
	return v1.ReasonRetrying
}

// held is what pending nodes wait for: mostly for a slot, which needs no words.
func (p *planning) held(t tally) (v1.ConditionReason, string) {
	soaking := p.names(func(p place) bool { return p.has() && p.soak > 0 })
	switch {
	case p.steps.paused:
		return v1.ReasonPaused, p.steps.hold
	case p.steps.hold != "":
		return v1.ReasonCanary, p.steps.hold
	case len(soaking) > 0 && t.Progressing == 0:
		return v1.ReasonSoaking, fmt.Sprintf("%s configured, for less than %d s", list(soaking), p.in.Policy.Spec.Rollout.SoakSeconds)
	case p.spared != "" && t.Progressing == 0:
		return v1.ReasonConfigurationProgressing, "waiting: " + p.spared
	}
	return v1.ReasonConfigurationProgressing, ""
}

// nothing tells of nodes that have the policy because it asks nothing of them.
func (p *planning) nothing() string {
	spec := p.in.Policy.Spec
	without := len(p.names(func(p place) bool { return p.Matches && p.phase == available && p.matchless }))
	switch {
	case spec.AutoConfig == nil && asksNothing(spec.DesiredState):
		return ", and the policy asks nothing of them: spec.desiredState is empty"
	case without > 0:
		return fmt.Sprintf(", %d of them without an interface that spec.match selects", without)
	}
	return ""
}

// asksNothing: there is no section with anything in it.
func asksNothing(desired v1.State) bool {
	if desired.IsZero() {
		return true
	}
	var sections map[string]json.RawMessage
	if json.Unmarshal(desired.Raw, &sections) != nil {
		return false // What it is, the nodes tell.
	}
	for _, section := range sections {
		switch string(bytes.TrimSpace(section)) {
		case "{}", "[]", "null":
		default:
			return false
		}
	}
	return true
}

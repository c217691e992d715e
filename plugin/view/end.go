package view

import (
	"fmt"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// End is what a policy has come to.
type End int

// The ends, the one last that decides for several policies.
const (
	// Done: every node that takes part has it, or its plan is there.
	Done End = iota
	// GoesOn: it is not at its end.
	GoesOn
	// Waits: nothing goes on until a person does something.
	Waits
	// Failed: it failed, and is not tried again by itself.
	Failed
)

// End tells whether somebody who waits for the policy can stop, and why in one line.
func (p Policy) End() (End, string) {
	confirm := p.names(Confirm)
	switch {
	case p.Status == Unseen:
		return GoesOn, p.Message
	case p.Status == string(v1.PolicyDegraded) && p.goesOn == "":
		return Failed, join(p.Message, p.Detail)
	case len(confirm) > 0 && p.Slots.Of > 0 && p.Slots.Taken == 0:
		return GoesOn, join(p.Message, p.Detail) // The policy's own status is of a moment ago.
	case len(confirm) > 0 && p.count(Changing) == 0:
		return Waits, fmt.Sprintf("%s is applied on %s and waits for a person: kubectl nmstate confirm %s", p.Name, names(confirm), p.Name)
	case p.goesOn == v1.ReasonPaused && p.count(Changing) == 0:
		return Waits, fmt.Sprintf("%s is paused: kubectl nmstate resume %s", p.Name, p.Name)
	case p.goesOn != "" || p.Status == string(v1.PolicyProgressing):
		return GoesOn, join(p.Message, p.Detail)
	}
	return Done, p.Message
}

func join(parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, ": ")
}

// names is for people: of many it gives the first few and a count.
func names(all []string) string {
	const shown = 5
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

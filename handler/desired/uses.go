package desired

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// uses are what a state makes of interfaces without setting their state: ports,
// which are up, by the controller that takes them; and those that are down or
// absent, by that word. No leaf disagrees where one policy takes a port and another
// one puts it down, and the later one would win without a word.
type uses struct {
	policy      string
	ports, gone map[string]use
}

// use of an interface by a policy: the controller, or the state.
type use struct{ policy, word string }

func newUses() uses { return uses{ports: map[string]use{}, gone: map[string]use{}} }

func usesOf(c Contribution) uses {
	found := newUses()
	found.policy = c.Policy
	for _, one := range c.State.Interfaces() {
		if one.IsAbsent() || one.State == "down" {
			found.gone[one.Name] = use{c.Policy, one.State}
			continue
		}
		for _, port := range one.Ports() {
			if port != one.Name { // An OVS bridge's own interface.
				found.ports[port] = use{c.Policy, one.Name}
			}
		}
	}
	return found
}

func (u uses) add(next uses) {
	maps.Copy(u.ports, next.ports)
	maps.Copy(u.gone, next.gone)
}

// contradicts finds an interface that a policy before takes as a port and the next
// one puts down, or the other way round.
func (u uses) contradicts(next uses) (Conflict, bool) {
	for _, name := range slices.Sorted(maps.Keys(next.gone)) {
		if port, is := u.ports[name]; is {
			return next.conflict(name, strconv.Quote(next.gone[name].word), port.policy, asPort(port)), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.ports)) {
		if gone, is := u.gone[name]; is {
			return next.conflict(name, asPort(next.ports[name]), gone.policy, strconv.Quote(gone.word)), true
		}
	}
	return Conflict{}, false
}

func (u uses) conflict(name, value, other, otherValue string) Conflict {
	return Conflict{Policy: u.policy, Other: other, Path: "interfaces[" + name + "].state", Value: value, OtherValue: otherValue}
}

func asPort(port use) string { return fmt.Sprintf("%q, as a port of %s,", "up", port.word) }

package desired

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// uses are what a state makes of interfaces without setting their state: ports, what others
// stand on and next hops of routes, which are up, by what needs them; and those that are
// down or absent, by that word. No leaf disagrees where one policy takes a port and another
// one puts it down, and the later one would win without a word.
type uses struct {
	policy     string
	must, gone map[string]use
}

// use of an interface by a policy: what for, or the state.
type use struct{ policy, word string }

func newUses() uses { return uses{must: map[string]use{}, gone: map[string]use{}} }

func usesOf(c Contribution) uses {
	found := newUses()
	found.policy = c.Policy
	for _, route := range c.State.Routes() {
		if !route.Absent && route.NextHopInterface != "" {
			found.must[route.NextHopInterface] = use{c.Policy, "as the next hop of route " + route.Destination}
		}
	}
	for _, one := range c.State.Interfaces() {
		if one.IsAbsent() || one.State == "down" {
			found.gone[one.Name] = use{c.Policy, one.State}
			continue
		}
		if base := one.BaseInterface(); base != "" {
			found.must[base] = use{c.Policy, "as the base of " + one.Name}
		}
		for _, port := range one.Ports() {
			if port != one.Name { // An OVS bridge's own interface.
				found.must[port] = use{c.Policy, "as a port of " + one.Name}
			}
		}
	}
	return found
}

func (u uses) add(next uses) {
	maps.Copy(u.must, next.must)
	maps.Copy(u.gone, next.gone)
}

// contradicts finds an interface that a policy before needs up and the next
// one puts down, or the other way round.
func (u uses) contradicts(next uses) (Conflict, bool) {
	for _, name := range slices.Sorted(maps.Keys(next.gone)) {
		if up, is := u.must[name]; is {
			return next.conflict(name, strconv.Quote(next.gone[name].word), up.policy, up.why()), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.must)) {
		if gone, is := u.gone[name]; is {
			return next.conflict(name, next.must[name].why(), gone.policy, strconv.Quote(gone.word)), true
		}
	}
	return Conflict{}, false
}

func (u uses) conflict(name, value, other, otherValue string) Conflict {
	return Conflict{Policy: u.policy, Other: other, Path: "interfaces[" + name + "].state", Value: value, OtherValue: otherValue}
}

// why an interface is to be up.
func (u use) why() string { return fmt.Sprintf("%q, %s,", "up", u.word) }

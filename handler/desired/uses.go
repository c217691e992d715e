package desired

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// uses are what a state makes of interfaces without setting their state: ports, what others
// stand on and next hops of routes, which are up, by what needs them; and those that are
// down or absent, by that word; and whose ports they are. No leaf disagrees where one policy
// takes a port and another one puts it down or takes it, too, and the later one would win
// without a word.
type uses struct {
	policy     string
	must, gone map[string]use
	// ports are two of a name where nmstate refuses the policy.
	ports map[string][]port
}

// use of an interface by a policy: what for, or the state.
type use struct{ policy, word string }

// port of a controller, by a list of it or by what the port itself says: empty for none.
type port struct {
	policy, controller string
	// kind of the controller, where the policy speaks of it.
	kind string
}

func newUses() uses {
	return uses{must: map[string]use{}, gone: map[string]use{}, ports: map[string][]port{}}
}

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
	found.portsOf(c)
	return found
}

// portsOf notes the controllers' lists first: they say of what kind the controller is.
func (u uses) portsOf(c Contribution) {
	up := slices.DeleteFunc(slices.Clone(c.State.Interfaces()), func(one state.Interface) bool { return one.IsAbsent() || one.State == "down" })
	for _, one := range up {
		for _, name := range one.Ports() {
			u.claim(name, port{c.Policy, one.Name, one.Type})
		}
	}
	for _, one := range up {
		if controller, said := one.Controller(); said {
			u.claim(one.Name, port{policy: c.Policy, controller: controller})
		}
	}
}

func (u uses) claim(name string, is port) {
	if !slices.ContainsFunc(u.ports[name], is.same) {
		u.ports[name] = append(u.ports[name], is)
	}
}

func (u uses) add(next uses) {
	maps.Copy(u.must, next.must)
	maps.Copy(u.gone, next.gone)
	for name, claims := range next.ports {
		for _, is := range claims {
			u.claim(name, is)
		}
	}
}

// contradicts finds an interface that a policy before needs up and the next
// one puts down, or the other way round; or a port that both give to a controller, and
// not to the same.
func (u uses) contradicts(next uses) (Conflict, bool) {
	for _, name := range slices.Sorted(maps.Keys(next.gone)) {
		if up, is := u.must[name]; is {
			return next.conflict(name, "state", strconv.Quote(next.gone[name].word), up.policy, up.why()), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.must)) {
		if gone, is := u.gone[name]; is {
			return next.conflict(name, "state", next.must[name].why(), gone.policy, strconv.Quote(gone.word)), true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next.ports)) {
		had := u.ports[name]
		for _, is := range next.ports[name] {
			if len(had) > 0 && !slices.ContainsFunc(had, is.same) {
				return next.conflict(name, "controller", strconv.Quote(is.controller), had[0].policy, strconv.Quote(had[0].controller)), true
			}
		}
	}
	return Conflict{}, false
}

// same controller by its name. Where both say its kind: beside an OVS bridge there may be
// another interface of that name.
func (p port) same(other port) bool {
	const ovsBridge = "ovs-bridge"
	return p.controller == other.controller && (p.kind == "" || other.kind == "" || (p.kind == ovsBridge) == (other.kind == ovsBridge))
}

func (u uses) conflict(name, leaf, value, other, otherValue string) Conflict {
	return Conflict{Policy: u.policy, Other: other, Path: "interfaces[" + name + "]." + leaf, Value: value, OtherValue: otherValue}
}

// why an interface is to be up.
func (u use) why() string { return fmt.Sprintf("%q, %s,", "up", u.word) }

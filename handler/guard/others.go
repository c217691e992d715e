package guard

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// NameServers tells which name servers must answer now that a change is tried:
// each one that answered before and is asked still, and one of those that are
// new. A node that asks fewer has lost nothing as long as one answers.
func NameServers(before Before, now []Target) Demand {
	var demand Demand
	for _, was := range before.Answered {
		demand.each(was.still(now, nil))
	}
	demand.oneOf(before.added(now))
	if len(demand.Groups) == 0 {
		demand.oneOf(now)
	}
	if len(now) == 0 {
		demand.Lost = []string{"the host has no name server"}
	}
	return demand
}

// Servers tells which of a server's addresses must answer now that a change is
// tried: one of each family in which one answered before. Not each, since one
// that is replaced or restarted meanwhile is no fault of the change. A family that the
// change switches off demands nothing.
func Servers(before Before, desired state.State, now []Target) Demand {
	var demand Demand
	for _, family := range families() {
		if len(of(family, before.Answered)) > 0 && !switchesOff(desired, family) {
			demand.oneOf(of(family, now))
		}
	}
	if len(demand.Groups) == 0 {
		demand.oneOf(now)
	}
	return demand
}

func switchesOff(desired state.State, family state.Family) bool {
	return slices.ContainsFunc(desired.Interfaces(), func(link state.Interface) bool {
		if slices.ContainsFunc(append(link.Ports(), link.Name), func(name string) bool { return leaves(desired, name, family) }) {
			return true
		}
		enabled, said := link.Enabled(family)
		return link.IsAbsent() || link.State == "down" || said && !enabled && len(besides(desired, link.Name)) == 0
	})
}

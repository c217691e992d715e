package guard

import (
	"fmt"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Gateways tells which default gateways must answer now that a change is tried:
//   - each one that answered before and is a default gateway still, wherever its
//     link went;
//   - a new one that its family's packets take before all others;
//   - for one that is none any more, one of those that are new, and without a new
//     one, one of its family, where the change says something of its link or route;
//   - one at all, whatever the change says.
//
// A family without an answer before, and one that the change removes
// (RemovedFamilies), demands nothing.
func Gateways(before Before, desired state.State, now []Target) Demand {
	var demand Demand
	left := removedFamilies(before, desired)
	for _, family := range families() {
		was := Before{Answered: of(family, before.Answered), Silent: of(family, before.Silent)}
		if len(was.Answered) > 0 && !slices.Contains(left, family) {
			demand.family(was, desired, of(family, now))
		}
	}
	if len(demand.Groups) == 0 && len(demand.Lost) == 0 {
		if demand.oneOf(now); len(now) == 0 {
			demand.Lost = []string{"the main routing table has no default gateway"}
		}
	}
	return demand
}

func families() []state.Family { return []state.Family{state.IPv4, state.IPv6} }

func (d *Demand) family(before Before, desired state.State, now []Target) {
	isNew := before.added(now)
	for _, was := range before.Answered {
		still := was.still(now, slices.Concat(before.Answered, before.Silent))
		switch {
		case len(still) > 0:
			d.each(still)
		case len(isNew) > 0:
			d.oneOf(isNew)
		case len(now) > 0 && concerns(desired, was):
			d.oneOf(now)
		default:
			d.Lost = append(d.Lost, fmt.Sprintf("%s by %s answered, is no default gateway of %s any more, and the change does not say so",
				was.Address.WithZone(""), was.Interface, familyName(was.family())))
		}
	}
	for _, first := range preferred(now) {
		if slices.Contains(isNew, first) {
			d.each([]Target{first})
		}
	}
}

// preferred are those of the least metric.
func preferred(targets []Target) []Target {
	if len(targets) == 0 {
		return nil
	}
	least := slices.MinFunc(targets, func(a, b Target) int { return a.Metric - b.Metric }).Metric
	return filter(targets, func(t Target) bool { return t.Metric == least })
}

// RemovedFamilies says of each family that had a gateway that answered, and that
// the change removes, that none of it guards the change: one line each.
func RemovedFamilies(before Before, desired state.State) []string {
	var lines []string
	for _, family := range removedFamilies(before, desired) {
		lines = append(lines, fmt.Sprintf("default-gateway: the change takes the %s default route away, so no gateway of %s guards it",
			familyName(family), familyName(family)))
	}
	return lines
}

// removedFamilies are those whose gateways all go because the change says so, and
// none of which is to come from elsewhere.
func removedFamilies(before Before, desired state.State) []state.Family {
	var removed []state.Family
	for _, family := range families() {
		answered := of(family, before.Answered)
		stays := slices.ContainsFunc(answered, func(t Target) bool { return !removes(desired, t) })
		if len(answered) > 0 && !stays && !expects(desired, family) {
			removed = append(removed, family)
		}
	}
	return removed
}

// removes tells whether the change takes a gateway away in so many words. That it
// gives its link other addresses does not say so: whoever forgets the default route
// there has lost it. A link that becomes a port takes its gateways to where its
// controller has the family; where nothing there has it, the change is without it
// (nmstate: a new interface has no family that is not named).
func removes(desired state.State, gateway Target) bool {
	if slices.ContainsFunc(desired.Routes(), func(r state.Route) bool { return r.Absent && matches(r, gateway) }) {
		return true
	}
	family := gateway.family()
	if len(besides(desired, gateway.Interface)) > 0 {
		return leaves(desired, gateway.Interface, family)
	}
	link, named := desired.Interface(gateway.Interface)
	if !named {
		return false
	}
	enabled, said := link.Enabled(family)
	return link.IsAbsent() || link.State == "down" || said && !enabled || refusesGateway(link, family)
}

// leaves tells whether a link becomes a port where nothing has the family.
func leaves(desired state.State, link string, family state.Family) bool {
	beside := besides(desired, link)
	return len(beside) > 0 && !slices.ContainsFunc(beside, func(i state.Interface) bool {
		enabled, _ := i.Enabled(family)
		return enabled && !refusesGateway(i, family)
	})
}

// besides are a link that the change makes a port, its controller and the
// controller's other ports: an Open vSwitch bridge has its addresses on one of them.
// None where the link becomes no port, or of something that the change says no more of.
func besides(desired state.State, link string) []state.Interface {
	var controller string
	for _, i := range desired.Interfaces() {
		if slices.Contains(i.Ports(), link) && !i.IsAbsent() {
			controller = i.Name
		} else if of, _ := i.Controller(); i.Name == link && of != "" {
			controller = of
		}
	}
	of, named := desired.Interface(controller)
	if !named {
		return nil
	}
	return slices.DeleteFunc(desired.Interfaces(), func(i state.Interface) bool {
		return i.Name != link && i.Name != controller && !slices.Contains(of.Ports(), i.Name)
	})
}

func matches(r state.Route, gateway Target) bool {
	return isMain(r) && (r.Destination == "" || r.IsDefault() && r.IsIPv6() == (gateway.family() == state.IPv6)) &&
		(r.NextHopAddress == "" || r.NextHopAddress == gateway.Address.WithZone("").String()) &&
		(r.NextHopInterface == "" || r.NextHopInterface == gateway.Interface)
}

func isMain(r state.Route) bool { return r.VRF == "" && r.TableID == state.MainTable }

// refusesGateway tells whether a link is told not to learn a default route.
func refusesGateway(link state.Interface, family state.Family) bool {
	gateway, said := link.Automatic(family, "auto-gateway")
	routes, saidToo := link.Automatic(family, "auto-routes")
	return said && !gateway || saidToo && !routes
}

// expects tells whether the change wants a default route of the family: it names
// one, or a link that learns one.
func expects(desired state.State, family state.Family) bool {
	if slices.ContainsFunc(desired.Routes(), func(r state.Route) bool {
		return !r.Absent && isMain(r) && r.IsDefault() && r.IsIPv6() == (family == state.IPv6)
	}) {
		return true
	}
	return slices.ContainsFunc(desired.Interfaces(), func(link state.Interface) bool {
		enabled, _ := link.Enabled(family)
		return !link.IsAbsent() && link.State != "down" && enabled && link.Dynamic(family) && !refusesGateway(link, family)
	})
}

// concerns tells whether the change says anything of a gateway's link, or of its
// route.
func concerns(desired state.State, gateway Target) bool {
	if slices.ContainsFunc(desired.Routes(), func(r state.Route) bool {
		return r.NextHopInterface == gateway.Interface || r.Absent && matches(r, gateway)
	}) {
		return true
	}
	return slices.ContainsFunc(desired.Interfaces(), func(i state.Interface) bool {
		return i.Name == gateway.Interface || slices.Contains(i.Ports(), gateway.Interface)
	})
}

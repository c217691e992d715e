package foreign

import (
	"cmp"
	"fmt"
	"slices"
)

// Order is that the routes of one device come before those of another one to the same
// destination, which is lost. NetworkManager counts the metrics of its devices up, in
// the order in which it activates them: one that it has activated anew comes last.
type Order struct {
	// Device is the one to give another metric, in the family IPv4 or IPv6.
	Device string
	IPv6   bool
	// Metric is what its routes had.
	Metric int
	// Late: the device has no such route now. It may still wait for its lease.
	Late bool

	what string
}

// String tells what was lost: "route 0.0.0.0/0: eth1 came before eth2".
func (o Order) String() string { return o.what }

// unreachablePenalty is what NetworkManager adds to the metric of a default route
// that leads to no Internet, where it is told to look (its [connectivity]).
const unreachablePenalty = 20000

// race is a destination for which routes compete by their metrics.
type race struct {
	route   routeKey // With no metric.
	devices map[string]rank
}

// rank is the metric of a device's route.
type rank struct {
	metric int
	// theirs: NetworkManager has nothing to do with it.
	theirs bool
	// static: its metric may be one that the profile names.
	static bool
}

// Outranked are the devices whose routes came before those of others and do not any
// more, or not yet, in the order of their names. That is how a node with two gateways
// chooses one. Only NetworkManager's routes are to be given another metric. A device
// stands there once for each family.
func Outranked(before, now Snapshot) []Order {
	is := races(now)
	found := map[Order]Order{}
	for at, was := range races(before) {
		if len(was.devices) < 2 {
			continue
		}
		for first, one := range was.devices {
			for second, other := range was.devices {
				if one.metric >= other.metric {
					continue
				}
				for _, o := range overtaken(first, second, was, is[at]) {
					key := Order{Device: o.Device, IPv6: o.IPv6}
					if have, is := found[key]; !is || o.what < have.what {
						found[key] = o
					}
				}
			}
		}
	}
	var all []Order
	for _, o := range found {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b Order) int { return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.what, b.what)) })
	return all
}

// overtaken tells what to do about two devices of which the first came before the second.
func overtaken(first, second string, was, is race) []Order {
	one, here := is.devices[first]
	other, there := is.devices[second]
	switch {
	case here && there && one.metric < other.metric:
		return nil
	case was.devices[first].theirs && !here, was.devices[second].theirs && !there:
		return nil // Their owners took them away.
	}
	var found []Order
	for _, name := range []string{first, second} {
		had := was.devices[name]
		has, here := is.devices[name]
		if had.theirs || here && has.metric == had.metric || !here && had.static {
			continue
		}
		found = append(found, Order{
			Device: name, IPv6: was.route.ipv6, Metric: had.metric, Late: !here,
			what: fmt.Sprintf("route %s: %s came before %s", was.route.to, first, second),
		})
	}
	return found
}

// races are all destinations of routes through one device.
func races(of Snapshot) map[routeKey]race {
	links := indexed(of.Links)
	found := map[routeKey]race{}
	for _, raw := range of.Routes {
		r, ok := raw.read()
		if !ok || r.kind != typeUnicast || r.cloned || len(r.hops) != 1 || r.hops[0].device == 0 || r.linkLocal() {
			continue
		}
		metric, theirs := r.key.metric, !r.numbered()
		if !theirs {
			metric %= unreachablePenalty
		}
		key := r.key
		key.metric = 0
		at, known := found[key]
		if !known {
			at = race{route: key, devices: map[string]rank{}}
			found[key] = at
		}
		name := links.name(r.hops[0].device)
		if best, has := at.devices[name]; !has || metric < best.metric {
			at.devices[name] = rank{metric: metric, theirs: theirs, static: r.protocol == protocolStatic}
		}
	}
	return found
}

// numbered tells a route to which NetworkManager may have given the metric of its device.
func (r route) numbered() bool {
	switch r.protocol {
	case protocolKernel, protocolStatic, protocolDHCP, protocolRA:
		return true
	}
	return false
}

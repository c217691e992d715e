package state

import (
	"encoding/json"
	"strconv"
	"strings"
)

// inPlace has an interface name the metrics by which what it learns of DHCP and router
// advertisements competes with other interfaces. NetworkManager chose them, and would choose
// a higher one when it activates the interface anew: with two gateways the node would leave
// through the other one.
func inPlace(one map[string]any, node State) map[string]any {
	for _, family := range []Family{IPv4, IPv6} {
		ip := object(one[string(family)])
		if !isDynamic(ip) || !choosesMetric(one, family, "auto-route-metric") {
			continue
		}
		if metric, competes := competing(node.RunningRoutes(), text(one["name"]), family); competes {
			ip["auto-route-metric"] = json.Number(strconv.FormatInt(metric, 10))
		}
	}
	return one
}

// competing is the metric of an interface's route of the family to a destination that
// another interface leads to as well; false if there is none.
func competing(routes []Route, name string, family Family) (int64, bool) {
	type place struct {
		destination string
		table       int64
	}
	metrics := map[place]int64{}
	for _, route := range routes {
		onLink := strings.HasPrefix(route.Destination, "fe80:") || strings.HasPrefix(route.Destination, "ff")
		if route.NextHopInterface == name && route.HasMetric && route.IsIPv6() == (family == IPv6) && !onLink {
			metrics[place{route.Destination, route.TableID}] = route.Metric
		}
	}
	// What NetworkManager adds to a gateway that leads to no Internet, where it looks.
	const penalty = 20000
	for _, other := range routes {
		metric, both := metrics[place{other.Destination, other.TableID}]
		if both && other.NextHopInterface != name {
			return metric % penalty, true
		}
	}
	return 0, false
}

// withMetricsOf is a state whose interfaces name metrics of their routes only where they did
// before. Otherwise NetworkManager chooses them, as their profiles still say.
func withMetricsOf(before, after State) State {
	var tree map[string]any
	for i, one := range objects(after.tree["interfaces"]) {
		for _, family := range []Family{IPv4, IPv6} {
			for _, key := range []string{"auto-route-metric", "prefix-route-metric"} {
				if choosesMetric(one, family, key) {
					continue
				}
				was, known := before.Interface(text(one["name"]))
				if !known || !choosesMetric(was.tree, family, key) {
					continue
				}
				if tree == nil {
					tree = after.Tree()
				}
				ip := object(objects(tree["interfaces"])[i][string(family)])
				delete(ip, key)
				if value, said := object(was.tree[string(family)])[key]; said {
					ip[key] = value
				}
			}
		}
	}
	if tree == nil {
		return after
	}
	return State{tree: tree}
}

// choosesMetric tells whether NetworkManager chooses the metric of the key.
func choosesMetric(one map[string]any, family Family, key string) bool {
	fixed, said := integer(object(one[string(family)])[key])
	return !said || fixed < 0
}

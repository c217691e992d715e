package state

import "slices"

// routes: a route that is to be must be there, whoever made it; of routes that
// are to be absent only configured ones can be taken away.
func (c *comparison) routes(desired, current State) {
	wanted := desired.Routes()
	configured := slices.DeleteFunc(current.Routes(), func(r Route) bool { return r.Absent })
	have := slices.Concat(configured, current.RunningRoutes())
	tables := map[string]int64{}
	for _, one := range slices.Concat(current.Interfaces(), desired.Interfaces()) {
		if id, ok := integer(object(one.tree["vrf"])["route-table-id"]); ok {
			tables[one.Name] = id
		}
	}
	for _, routes := range [][]Route{wanted, configured, have} {
		for i, route := range routes {
			if id, ok := tables[route.VRF]; ok && route.VRF != "" {
				routes[i].TableID = id
			}
		}
	}
	byDestination := map[string][]Route{}
	for _, got := range have {
		byDestination[got.Destination] = append(byDestination[got.Destination], got)
	}
	for _, want := range wanted {
		want.NextHopInterface = c.kernelName(want.NextHopInterface)
		switch {
		case text(want.tree["state"]) == "ignore":
		case want.Absent:
			c.absentRoute(want, wanted, configured)
		case !slices.ContainsFunc(byDestination[want.Destination], want.isMetBy):
			c.route(want, want.String(), "")
		}
	}
}

// route adds one that differs.
func (c *comparison) route(r Route, want, got string) {
	c.add(Path{Section: "routes", Interface: r.NextHopInterface, Leaf: "config"}, want, got)
}

// absentRoute finds a route that should be gone. A route that desired wants
// beside the filter is there by right.
func (c *comparison) absentRoute(filter Route, wanted, configured []Route) {
	for _, want := range wanted {
		if !want.Absent && filter.selects(want) {
			return
		}
	}
	for _, got := range configured {
		if filter.selects(got) {
			c.route(got, "", got.String())
		}
	}
}

// isMetBy tells whether a current route to the same destination is the one
// that r wants.
func (r Route) isMetBy(got Route) bool {
	kind := text(r.tree["route-type"])
	switch {
	case r.TableID != got.TableID:
		return false
	case kind != "" || text(got.tree["route-type"]) != "":
		// A route that leads nowhere has no next hop worth comparing.
		return kind == text(got.tree["route-type"])
	case r.NextHopInterface != "" && r.NextHopInterface != got.NextHopInterface:
		return false
	case r.NextHopAddress != got.NextHopAddress:
		return false
	}
	// The kernel writes an IPv6 route's metric 0 as 1024.
	if r.HasMetric && r.Metric != got.Metric && (!r.IsIPv6() || r.Metric != 0) {
		return false
	}
	return r.detailsMetBy(got)
}

// detailKeys are the rarer properties of a route.
func detailKeys() []string {
	return []string{"source", "mtu", "cwnd", "initcwnd", "initrwnd", "advmss", "quickack", "lock-mtu", "weight"}
}

// details are the rarer properties that the document gives, as ip-route would
// write them after the rest.
func (r Route) details() string {
	line := ""
	for _, key := range append(detailKeys(), "route-type") {
		if value := text(r.tree[key]); value != "" {
			line += " " + key + " " + value
		}
	}
	return line
}

// detailsMetBy compares the rarer properties, where the report has them.
func (r Route) detailsMetBy(got Route) bool {
	for _, key := range detailKeys() {
		if r.tree[key] != nil && got.tree[key] != nil && !Same(r.tree[key], got.tree[key]) {
			return false
		}
	}
	return true
}

// selects tells whether an absent route, which is a filter, means got.
func (r Route) selects(got Route) bool {
	if r.Destination != "" && r.Destination != got.Destination ||
		r.NextHopInterface != "" && r.NextHopInterface != got.NextHopInterface ||
		text(r.tree["next-hop-address"]) != "" && r.NextHopAddress != got.NextHopAddress {
		return false
	}
	if id, said := integer(r.tree["table-id"]); said && id != 0 && id != got.TableID {
		return false
	}
	if r.VRF != "" && r.VRF != got.VRF && r.TableID != got.TableID {
		return false
	}
	for _, key := range append(detailKeys(), "route-type") {
		if r.tree[key] != nil && !Same(r.tree[key], got.tree[key]) {
			return false
		}
	}
	return true
}

func (c *comparison) rules(wanted, current []RouteRule) {
	path := Path{Section: "route-rules", Leaf: "config"}
	have := slices.DeleteFunc(current, func(r RouteRule) bool { return r.Absent })
	for _, want := range wanted {
		there := slices.IndexFunc(have, want.selects)
		switch {
		case !want.Absent && there < 0:
			c.add(path, want.String(), "")
		case want.Absent && there >= 0 && !slices.ContainsFunc(wanted, func(r RouteRule) bool { return !r.Absent && want.selects(r) }):
			c.add(path, "", have[there].String())
		}
	}
}

// selects tells whether a current rule has all that r says.
func (r RouteRule) selects(got RouteRule) bool {
	if r.tree["ip-from"] != nil && everywhere(r.From) != everywhere(got.From) ||
		r.tree["ip-to"] != nil && everywhere(r.To) != everywhere(got.To) {
		return false
	}
	if r.HasPriority && r.Priority != got.Priority {
		return false
	}
	if id, said := integer(r.tree["route-table"]); said && id != 0 && id != got.TableID {
		return false
	}
	if r.tree["family"] != nil && got.tree["family"] != nil && !Same(r.tree["family"], got.tree["family"]) {
		return false
	}
	for _, key := range []string{"action", "iif", "fwmark", "fwmask", "suppress-prefix-length"} {
		if r.tree[key] != nil && !Same(r.tree[key], got.tree[key]) {
			return false
		}
	}
	return true
}

// everywhere writes the prefix of length zero as no prefix, as the kernel does.
func everywhere(prefix string) string {
	if prefix == "0.0.0.0/0" || prefix == "::/0" {
		return ""
	}
	return prefix
}

package foreign

import "slices"

// routes compares routes of every table. Those that follow from addresses,
// router advertisements and leases are their owners' to change.
func (c *comparison) routes(before, now []Route) []Loss {
	have := map[routeKey][]route{}
	// places are the same without the metric, which NetworkManager chooses.
	places := map[routeKey][]route{}
	for _, raw := range now {
		r, ok := raw.read()
		if !ok {
			continue
		}
		have[r.key] = append(have[r.key], r)
		place := r.key
		place.metric = 0
		places[place] = append(places[place], r)
	}
	var direct, through []Loss
	for _, raw := range before {
		r, ok := raw.read()
		if !ok || !r.lasting() || !c.ofOthers(r) || c.named.takes(r, c.was) {
			continue
		}
		place := r.key
		place.metric = 0
		wanted := r.on(c.moved)
		if replaced(have[r.key], wanted) {
			c.replaced = append(c.replaced, raw)
			continue
		}
		if holds(have[r.key], wanted) || r.managed() && leadsTo(places[place], wanted) {
			continue
		}
		loss := Loss{
			Route: raw.restorable(c.moved, true), plain: raw.restorable(c.moved, false),
			Managed: r.managed() && !r.ofTheLink(), Slight: r.ofTheLink(), noted: raw, what: spelledRoute(r, c.was), on: c.deviceNames(r),
		}
		if r.gateways() {
			through = append(through, loss)
		} else {
			direct = append(direct, loss)
		}
	}
	return append(direct, through...)
}

// lasting leaves out what comes and goes by itself: caches, redirects, what
// router advertisements say, and what the kernel derives from each address.
func (r route) lasting() bool {
	derived := r.protocol == protocolKernel && !r.gateways() && (r.key.table == tableLocal || r.kind != typeUnicast || r.linkLocal())
	return !r.cloned && !r.expires && (!derived || r.ofTheLink()) && r.protocol != protocolRedirect && r.protocol != protocolRA
}

// ofTheLink tells the route by which a link sends IPv6 multicasts. The kernel
// makes it when the link comes up and not again, but NetworkManager drops it
// with its own routes when it lets the device go.
func (r route) ofTheLink() bool {
	to := r.key.to
	return r.protocol == protocolKernel && r.key.table == tableLocal && r.kind == typeMulticast &&
		to.Bits() == 8 && to.Addr().IsMulticast() && to.Addr().Is6()
}

func (r route) linkLocal() bool {
	return r.key.to.Addr().IsLinkLocalUnicast() || r.key.to.Addr().IsMulticast()
}

// managed tells the routes that NetworkManager makes itself.
func (r route) managed() bool {
	switch r.protocol {
	case protocolStatic, protocolDHCP:
		return true
	case protocolKernel:
		return !r.gateways()
	}
	return false
}

// ofOthers tells whether the change has to leave the route alone, and whether
// it could be there at all.
func (c *comparison) ofOthers(r route) bool {
	for _, h := range r.hops {
		if h.device == 0 {
			continue
		}
		if !c.comparable(h.device) {
			return false
		}
		was, _, _ := c.present(h.device)
		if _, touched := c.named.touches(was); touched && r.managed() {
			return false
		}
		if c.named.leases(was, r) || c.named.leases(c.is.byIndex[c.moved[h.device]], r) {
			return false
		}
	}
	return true
}

// on is the route as it is to be now, on the devices of now.
func (r route) on(devices map[int]int) route {
	r.hops = slices.Clone(r.hops)
	for i, h := range r.hops {
		if now, moved := devices[h.device]; moved {
			r.hops[i].device = now
		}
	}
	return r
}

// replaced tells whether the owner put another route in the place of the wanted
// one: other next hops are the owner's doing, fewer are not.
func replaced(found []route, wanted route) bool {
	return slices.ContainsFunc(found, func(r route) bool {
		if r.protocol != wanted.protocol || wanted.key.ipv6 && len(wanted.hops) > 0 {
			return false // IPv6 has several routes beside each other in one place.
		}
		return slices.ContainsFunc(r.hops, func(h hop) bool { return !slices.Contains(wanted.hops, h) })
	})
}

// holds tells whether the routes in its place are the wanted one.
func holds(found []route, wanted route) bool {
	together := map[hop]bool{}
	for _, r := range found {
		for _, h := range r.hops {
			together[h] = true
		}
	}
	for _, h := range wanted.hops {
		if !together[h] {
			return false
		}
	}
	return len(found) > 0
}

// leadsTo tells whether one of the routes leads where the wanted one does.
func leadsTo(found []route, wanted route) bool {
	return slices.ContainsFunc(found, func(r route) bool { return slices.Equal(r.hops, wanted.hops) })
}

func (c *comparison) deviceNames(r route) []string {
	var names []string
	for _, h := range r.hops {
		if name := c.was.name(h.device); name != "" {
			names = append(names, name)
		}
	}
	return names
}

package state

import (
	"maps"
	"slices"
)

// CompleteRevert makes a computed way back whole. What nmstate computes undoes
// the keys that the change named; where the change takes more with it (IPv6
// switched off loses the addresses and the routes of the NIC), those are
// missing from it. So each interface that was there before gets its IP
// configuration and its routes of before, all of them.
func CompleteRevert(revert, before State) State {
	tree := revert.Tree()
	var interfaces []any
	restored := map[string]bool{}
	for _, one := range revert.Interfaces() {
		back := one.Tree()
		was, there := before.Interface(one.Name)
		if there && !one.IsAbsent() && was.State == "up" {
			restored[one.Name] = true
			for _, family := range []Family{IPv4, IPv6} {
				if ip := object(was.Tree()[string(family)]); ip != nil {
					back[string(family)] = desirable(ip)
				}
			}
		}
		interfaces = append(interfaces, back)
	}
	if len(restored) == 0 {
		return revert
	}
	tree["interfaces"] = interfaces
	routes := object(tree["routes"])
	if routes == nil {
		routes = map[string]any{}
	}
	routes["config"] = restoredRoutes(revert, before, restored)
	tree["routes"] = routes
	return FromTree(tree)
}

// restoredRoutes replaces every route of the restored interfaces.
func restoredRoutes(revert, before State, restored map[string]bool) []any {
	var config []any
	for _, name := range slices.Sorted(maps.Keys(restored)) {
		config = append(config, map[string]any{"next-hop-interface": name, "state": "absent"})
	}
	for _, route := range revert.Routes() {
		if !restored[route.NextHopInterface] {
			config = append(config, route.Tree())
		}
	}
	for _, route := range before.Routes() {
		if restored[route.NextHopInterface] {
			config = append(config, route.Tree())
		}
	}
	return config
}

// desirable is a reported IP configuration as it can be desired: without what
// somebody else hands out, and without flags that the kernel derives.
func desirable(ip map[string]any) map[string]any {
	dhcp, _ := truth(ip["dhcp"])
	autoconf, _ := truth(ip["autoconf"])
	if dhcp || autoconf {
		delete(ip, "address")
	}
	for _, address := range objects(ip["address"]) {
		for _, key := range append(lifetimeKeys(), "mptcp-flags") {
			delete(address, key)
		}
	}
	return ip
}

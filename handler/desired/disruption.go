package desired

import (
	"maps"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func worse(a, b v1.Disruption) v1.Disruption {
	if b.Severity() > a.Severity() {
		return b
	}
	return a
}

// classOf is what the change of a leaf does to an interface, and why. What an
// interface does that is made anew depends on whether it has addresses.
func (p *planner) classOf(name, key string, d state.Difference) (v1.Disruption, string) {
	is, there := p.current.Interface(name)
	switch key {
	case "":
		if d.Want != "" {
			return v1.DisruptionReapply, "it is made"
		}
		return v1.DisruptionAddressLoss, "it is removed"
	case "state":
		return stateClass(d)
	case "controller":
		if d.Want == "" {
			return v1.DisruptionLinkFlap, "it leaves its controller"
		}
		return addressed(is, v1.DisruptionLinkFlap, "it becomes a port of "+d.Want)
	case "mac-address":
		return v1.DisruptionLinkFlap, "its MAC address changes"
	case "link-aggregation.mode":
		return v1.DisruptionLinkFlap, "the bond's mode changes"
	case "ipv4.dhcp", "ipv4.autoconf", "ipv6.dhcp", "ipv6.autoconf", "ipv4.enabled", "ipv6.enabled":
		if d.Want == "false" {
			return p.familyGoes(is, state.Family(key[:4]))
		}
	case "ipv4.address", "ipv6.address":
		if d.Want == "" {
			return v1.DisruptionAddressLoss, "it loses " + d.Got
		}
	case "ipv4.auto-gateway", "ipv4.auto-routes", "ipv6.auto-gateway", "ipv6.auto-routes":
		if d.Want == "false" && p.risky[name] != "" {
			return v1.DisruptionConnectivityRisk, "it takes no routes any more"
		}
	}
	if there && isMadeAnew(key) {
		return addressed(is, v1.DisruptionLinkFlap, "it is made anew, since "+key+" changes")
	}
	if strings.HasPrefix(key, "ethernet.") {
		return v1.DisruptionLinkFlap, "the NIC is set up anew"
	}
	return v1.DisruptionReapply, "settings change"
}

func stateClass(d state.Difference) (v1.Disruption, string) {
	switch {
	case d.Want == "down":
		return v1.DisruptionAddressLoss, "it goes down"
	case d.Got == "down":
		return v1.DisruptionReapply, "it comes up" // There is nothing to lose.
	}
	return v1.DisruptionReapply, "NetworkManager takes it over"
}

// isMadeAnew tells the leaves that the kernel does not change in place.
func isMadeAnew(leaf string) bool {
	section, _, _ := strings.Cut(leaf, ".")
	switch section {
	case "type", "vlan", "vxlan", "mac-vlan", "mac-vtap", "ipvlan", "macsec", "infiniband", "ip-tunnel", "veth", "hsr", "xfrm":
		return true
	}
	return leaf == "vrf.route-table-id"
}

// addressed is the class, or the loss of the addresses that the interface has.
func addressed(is state.Interface, class v1.Disruption, reason string) (v1.Disruption, string) {
	if has := slices.Concat(is.Addresses(state.IPv4), globals(is)); len(has) > 0 {
		return v1.DisruptionAddressLoss, reason + " and loses " + strings.Join(has, ", ")
	}
	return class, reason
}

// globals are the IPv6 addresses that do not come with every link.
func globals(is state.Interface) []string {
	return slices.DeleteFunc(is.Addresses(state.IPv6), func(a string) bool { return strings.HasPrefix(a, "fe80:") })
}

// familyGoes: what a server gave goes with it, routes and name servers too.
func (p *planner) familyGoes(is state.Interface, family state.Family) (v1.Disruption, string) {
	if is.Dynamic(family) && (family == state.IPv4 || len(globals(is)) > 0) {
		return v1.DisruptionAddressLoss, "it takes no " + string(family) + " addresses any more"
	}
	return v1.DisruptionReapply, "settings change"
}

// carriers are the interfaces on which a default route of the node depends:
// those that it leads over, their ports, and what they stand on.
func carriers(current state.State) map[string]string {
	found := map[string]string{}
	var visit func(name, why string)
	visit = func(name, why string) {
		if name == "" || found[name] != "" {
			return
		}
		found[name] = why
		is, there := current.Interface(name)
		if !there {
			return
		}
		for _, below := range append(is.Ports(), is.BaseInterface()) {
			visit(below, name+", which has a default route, depends on it")
		}
	}
	for _, route := range slices.Concat(current.RunningRoutes(), current.Routes()) {
		if route.IsDefault() && !route.Absent {
			visit(route.NextHopInterface, "it has a default route")
		}
	}
	return found
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

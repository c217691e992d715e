package rebuild

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// made are the types of links that NetworkManager makes from a generated profile.
func made() []string {
	return []string{"bond", "dummy", "hsr", "ipvlan", "linux-bridge", "loopback", "mac-vlan", "mac-vtap", "veth", "vlan", "vrf", "vxlan"}
}

// notMade says why a lab has none of other types.
func notMade(kind string) string {
	switch kind {
	case "ovs-bridge", "ovs-interface", "ovs-port":
		return noOpenVSwitch
	case "infiniband":
		return "a lab has no InfiniBand"
	case "macsec", "ipsec", "wireguard":
		return "its keys are not in a report"
	case "":
		return "the report does not say its type"
	}
	return "NetworkManager makes no interface of type " + kind
}

// reduced is a report without what a lab does not rebuild. Two reports of one node
// are compared in this form.
type reduced struct {
	state state.State
	left  left
	// nics are the interfaces that are hardware, by name.
	nics []string
	// leases are addresses that a gateway gave, by interface.
	leases map[string][]string
	// waits are interfaces and families that wait for an address; those of another
	// report where this one is compared with it, since addresses come in their time.
	waits map[string]bool
	like  *reduced
}

// reduce is for a report by itself, or for one that is compared with another.
func reduce(report state.State, like *reduced) *reduced {
	r := &reduced{leases: map[string][]string{}, waits: map[string]bool{}, like: like}
	tree := map[string]any{}
	gone := map[string]bool{}
	var kept []any
	for _, one := range report.Interfaces() {
		if r.leaves(report, one) {
			gone[one.Name] = true
			continue
		}
		kept = append(kept, r.inter(report, one))
	}
	for _, one := range kept {
		withoutPorts(object(one), gone)
	}
	tree["interfaces"] = kept
	whole := report.Tree()
	r.routes(tree, whole, report, gone)
	if config := object(object(whole["dns-resolver"])["config"]); len(config) > 0 {
		tree["dns-resolver"] = map[string]any{"config": config}
	}
	for _, section := range []string{"ovs-db", "ovn"} {
		if len(object(whole[section])) > 0 {
			r.left.add(noOpenVSwitch, section)
		}
	}
	r.state = state.FromTree(tree)
	return r
}

// leaves tells whether an interface is left out, and says why.
func (r *reduced) leaves(report state.State, one state.Interface) bool {
	nic := isNIC(report, one)
	switch {
	case one.State == "ignore" && one.Type == "veth":
		r.left.add("veths that nobody manages, as of pods", one.Name)
	case one.State == "ignore":
		r.left.add("NetworkManager does not manage it", one.Name)
	case one.IsAbsent():
	case one.Name == "lo":
		if slices.Equal(one.Addresses(state.IPv4), []string{"127.0.0.1/8"}) || len(one.Addresses(state.IPv4)) == 0 {
			return true // Every node has it.
		}
		return false
	case nic:
		r.nics = append(r.nics, one.Name)
		return false
	case !slices.Contains(made(), one.Type):
		r.left.add(notMade(one.Type), one.Name)
	case !one.WantedUp():
		r.left.add("it is down, so the report does not say its profile", one.Name)
	default:
		return false
	}
	return true
}

// isNIC tells hardware from what the node has made: of a veth whose other end is
// outside, nmstate says no peer on the node.
func isNIC(report state.State, one state.Interface) bool {
	if one.Type == "veth" {
		_, here := report.Interface(one.Peer())
		return one.State != "ignore" && (one.Peer() == "" || !here)
	}
	return one.Type == "ethernet"
}

const (
	noOpenVSwitch = "Open vSwitch does not run in a lab's node"

	ofHardware = "offloads, speed, driver and SR-IOV belong to the hardware, and a NIC of the lab is a veth"
	ofLease    = "leased or announced addresses are what the lab's gateway gives"
)

// inter is what is rebuilt of an interface.
func (r *reduced) inter(report state.State, one state.Interface) map[string]any {
	if r.isDown(one) { // A NIC: nothing is said of a profile.
		r.left.add("it is down, so there is only the NIC", one.Name)
		return map[string]any{"name": one.Name, "type": "ethernet", "state": one.State}
	}
	tree := one.Tree()
	for _, key := range []string{"ethtool", "ethernet", "driver", "permanent-mac-address", "max-mtu", "min-mtu"} {
		if _, has := tree[key]; has && key != "max-mtu" && key != "min-mtu" {
			r.left.add(ofHardware, "")
		}
		delete(tree, key)
	}
	for _, section := range [][2]string{
		{"802.1x", "802.1X: its password is not in a report"}, {"alt-names", "alternative names are made by udev"}, {"ovs-db", noOpenVSwitch},
	} {
		if value := tree[section[0]]; len(object(value)) > 0 || len(texts(value)) > 0 {
			r.left.add(section[1], one.Name)
		}
		delete(tree, section[0])
	}
	if len(one.Neighbours()) > 0 {
		r.left.add("LLDP neighbours: give the switch lldp", one.Name)
		delete(object(tree["lldp"]), "neighbors")
	}
	if slices.Contains([]string{"vrf", "ipvlan"}, one.Type) {
		delete(tree, "mac-address") // NetworkManager sets none on them.
	}
	if group := text(object(object(tree["bridge"])["options"])["group-addr"]); group != "" && !strings.EqualFold(group, "01:80:C2:00:00:00") {
		r.left.add("group-addr: libnmstate writes no profile with it that NetworkManager takes", one.Name)
		delete(object(object(tree["bridge"])["options"]), "group-addr")
	}
	if isNIC(report, one) {
		tree["type"] = "ethernet"
		delete(tree, "veth")
	}
	if by := text(tree["identifier"]); by != "" && by != "name" {
		r.left.add("identifier "+by+": a NIC of the lab has hardware of its own and goes by its name", one.Name)
		delete(tree, "identifier")
	}
	for _, family := range []state.Family{state.IPv4, state.IPv6} {
		ip, before := object(tree[string(family)]), len(r.leases[one.Name])
		if ip["address"] != nil {
			ip["address"] = r.static(report, one, family, objects(ip["address"]))
		}
		key := one.Name + " " + string(family)
		r.waits[key] = one.Dynamic(family) && len(r.leases[one.Name]) == before
		if r.like != nil {
			r.waits[key] = r.like.waits[key]
		}
		if r.waits[key] {
			r.left.add(string(family)+" waits for an address that nobody gives, and the boot would wait with it", one.Name)
			waitsNot(ip, family)
		}
	}
	return tree
}

func (r *reduced) isDown(one state.Interface) bool {
	if r.like != nil {
		other, there := r.like.state.Interface(one.Name)
		return there && !other.WantedUp()
	}
	return !one.WantedUp()
}

// waitsNot takes out of an address family that it is automatic.
func waitsNot(ip map[string]any, family state.Family) {
	for key := range ip {
		if key != "enabled" && key != "address" {
			delete(ip, key)
		}
	}
	if addresses, _ := ip["address"].([]any); family == state.IPv4 && len(addresses) == 0 {
		ip["enabled"] = false
	}
}

// static are the addresses that a profile gives.
func (r *reduced) static(report state.State, one state.Interface, family state.Family, all []map[string]any) []any {
	kept := []any{}
	for i, entry := range all {
		a, err := netip.ParseAddr(text(entry["ip"]))
		switch {
		case err != nil:
		case a.IsLinkLocalUnicast() && a.Is6():
			if mac := one.MACAddress(); !strings.HasPrefix(text(object(one.Tree()["ipv6"])["addr-gen-mode"]), "eui64") && mac != "" {
				r.left.add("the last half of a link-local address that is not made of the MAC address", one.Name)
			}
		case r.isLease(report, one, family, entry, i == 0):
			r.left.add(ofLease, one.Name)
			r.leases[one.Name] = append(r.leases[one.Name], text(entry["ip"])+"/"+text(entry["prefix-length"]))
		default:
			delete(entry, "mptcp-flags") // NetworkManager gives it those of the interface, in its own time.
			kept = append(kept, entry)
		}
	}
	return kept
}

// isLease: an address that expires, or, where the report leaves that out, the one
// that routes name as their source, or the first.
func (r *reduced) isLease(report state.State, one state.Interface, family state.Family, entry map[string]any, first bool) bool {
	if !one.Dynamic(family) {
		return false
	}
	for _, key := range []string{"valid-life-time", "valid-lft"} {
		if life := text(entry[key]); life != "" {
			return life != "forever"
		}
	}
	if family == state.IPv6 {
		return true
	}
	for _, route := range report.RunningRoutes() {
		if source := text(route.Tree()["source"]); source != "" && route.NextHopInterface == one.Name {
			return source == text(entry["ip"])
		}
	}
	return first
}

func withoutPorts(one map[string]any, gone map[string]bool) {
	if gone[text(one["controller"])] {
		delete(one, "controller")
	}
	for _, section := range []string{"bridge", "link-aggregation", "vrf"} {
		tree := object(one[section])
		for _, key := range []string{"port", "ports", "slaves", "ports-config"} {
			if items, ok := tree[key].([]any); ok {
				tree[key] = slices.DeleteFunc(items, func(port any) bool {
					name := text(object(port)["name"])
					if object(port) == nil {
						name = text(port)
					}
					return gone[name]
				})
			}
		}
	}
}

// routes keeps what is configured, and what leads through an interface whose
// routes a gateway gives.
func (r *reduced) routes(tree, whole map[string]any, report state.State, gone map[string]bool) {
	var config, running []any
	configured := map[string]bool{}
	for _, route := range report.Routes() {
		if gone[route.NextHopInterface] {
			r.left.add("its interface is not rebuilt", "route "+route.String())
			continue
		}
		route.HasMetric = false
		configured[route.String()] = true
		config = append(config, route.Tree())
	}
	for _, route := range report.RunningRoutes() {
		one, _ := report.Interface(route.NextHopInterface)
		hop, err := netip.ParseAddr(route.NextHopAddress)
		route.HasMetric = false
		switch {
		case gone[route.NextHopInterface] || err != nil || hop.IsUnspecified() || configured[route.String()]:
		case hop.Is6() && hop.IsLinkLocalUnicast():
			r.left.add(ofLease, one.Name)
		case one.Dynamic(state.IPv4) || one.Dynamic(state.IPv6):
			running = append(running, route.Tree())
		default:
			r.left.add("made by another program than NetworkManager", "route "+route.String())
		}
	}
	tree["routes"] = map[string]any{"config": config, "running": running}
	if rules := object(whole["route-rules"])["config"]; rules != nil {
		tree["route-rules"] = map[string]any{"config": rules}
	}
}

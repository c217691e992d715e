package rebuild

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// port is a NIC of a node, where a cable is plugged in.
type port struct {
	node int
	nic  string
}

// ground is what an interface stands on: NICs, and the VLAN in which its frames
// leave them, 0 for none.
type ground struct {
	nics []string
	vlan int64
}

// ground follows ports and bases down to the NICs; nothing for what stands on none,
// and for what frames do not leave as they are (a VXLAN, a VLAN in a VLAN).
func (n *node) ground(name string, depth int) ground {
	one, there := n.kept.state.Interface(name)
	if !there || depth > len(n.kept.state.Interfaces()) {
		return ground{}
	}
	if slices.Contains(n.kept.nics, name) {
		return ground{nics: []string{name}}
	}
	switch one.Type {
	case "vlan":
		below := n.ground(one.BaseInterface(), depth+1)
		if below.vlan != 0 {
			return ground{}
		}
		below.vlan, _ = one.VLANID()
		return below
	case "mac-vlan", "mac-vtap", "ipvlan":
		return n.ground(one.BaseInterface(), depth+1)
	case "bond", "linux-bridge", "hsr":
		var all ground
		for _, each := range one.Ports() {
			below := n.ground(each, depth+1)
			if len(all.nics) > 0 && below.vlan != all.vlan {
				continue
			}
			all = ground{nics: append(all.nics, below.nics...), vlan: below.vlan}
		}
		return all
	}
	return ground{}
}

// segment is a switch: what is plugged into it, and the networks that are in it by
// VLAN, in the order in which they are found.
type segment struct {
	ports    []port
	lacp     bool
	networks map[int64][]netip.Prefix
}

// segments tells which NICs share a switch: those below one interface, those whose
// interfaces share a network, and those of one name that have no network.
func segments(nodes []*node) []*segment {
	var all []*segment
	of := map[port]*segment{}
	join := func(a, b port) {
		one, other := of[a], of[b]
		if one == other {
			return
		}
		for _, p := range other.ports {
			of[p] = one
		}
		one.ports = append(one.ports, other.ports...)
		all = slices.DeleteFunc(all, func(s *segment) bool { return s == other })
	}
	for i, n := range nodes {
		for _, nic := range n.kept.nics {
			s := &segment{ports: []port{{i, nic}}, networks: map[int64][]netip.Prefix{}}
			of[s.ports[0]] = s
			all = append(all, s)
		}
	}
	first, carries := map[string]port{}, map[port]bool{}
	for i, n := range nodes {
		for _, one := range n.kept.state.Interfaces() {
			below := n.ground(one.Name, 0)
			for _, nic := range below.nics {
				join(port{i, below.nics[0]}, port{i, nic})
			}
			for _, network := range n.networks(one) {
				for _, nic := range below.nics {
					carries[port{i, nic}] = true
					joinFirst(first, fmt.Sprint(below.vlan, " ", network), port{i, nic}, join)
				}
			}
		}
	}
	for i, n := range nodes {
		for _, nic := range n.kept.nics {
			if p := (port{i, nic}); !carries[p] && len(of[p].ports) == 1 {
				joinFirst(first, "NIC "+nic, p, join)
			}
		}
	}
	describe(nodes, of)
	return all
}

func joinFirst(first map[string]port, key string, p port, join func(a, b port)) {
	if _, known := first[key]; !known {
		first[key] = p
	}
	join(first[key], p)
}

// describe tells the segments their networks, and which of them aggregate.
func describe(nodes []*node, of map[port]*segment) {
	for i, n := range nodes {
		for _, one := range n.kept.state.Interfaces() {
			below := n.ground(one.Name, 0)
			if len(below.nics) == 0 {
				continue
			}
			s := of[port{i, below.nics[0]}]
			if one.Type == "bond" && text(object(one.Tree()["link-aggregation"])["mode"]) == "802.3ad" {
				s.lacp = true
			}
			for _, network := range n.networks(one) {
				if !slices.Contains(s.networks[below.vlan], network) {
					s.networks[below.vlan] = append(s.networks[below.vlan], network)
				}
			}
		}
	}
}

// addresses are all of an interface, leased ones too, without link-local ones.
func (n *node) addresses(one state.Interface) []netip.Prefix {
	var all []netip.Prefix
	for _, written := range slices.Concat(one.Addresses(state.IPv4), n.kept.leases[one.Name], one.Addresses(state.IPv6)) {
		if p, err := netip.ParsePrefix(written); err == nil && !p.Addr().IsLinkLocalUnicast() {
			all = append(all, p)
		}
	}
	return all
}

// networks are those of its addresses in which a gateway has room.
func (n *node) networks(one state.Interface) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range n.addresses(one) {
		if p.Addr().BitLen()-p.Bits() >= 2 && !slices.Contains(all, p.Masked()) {
			all = append(all, p.Masked())
		}
	}
	return all
}

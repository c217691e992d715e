package lab

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// LinkSpec is a link that a node has before any policy, made by a profile of an
// administrator on the node's first boot. It stands on NICs and on links that are
// listed before it. Its name and its addresses are told as a NIC's.
type LinkSpec struct {
	// Switch is the one that the link leads to: its gateway is the link's. A link
	// without one has an address and no gateway.
	NICSpec `yaml:",inline"`
	// Type is nmstate's word for it, one of linkTypes.
	Type string `yaml:"type" json:"type"`
	// Ports of a bond, a linux-bridge, a vrf, an ovs-bridge or an ovs-bond.
	Ports []string `yaml:"ports,omitempty" json:"ports,omitempty"`
	// VLANs have a linux-bridge filter: it and each of its ports carry these, tagged.
	VLANs []int `yaml:"vlans,omitempty" json:"vlans,omitempty"`
	// Base of a vlan, a vxlan, a mac-vlan or an ipvlan.
	Base string `yaml:"base,omitempty" json:"base,omitempty"`
	// ID of a vlan or a vxlan, and the routing table of a vrf.
	ID int `yaml:"id,omitempty" json:"id,omitempty"`
	// Mode of a bond, a mac-vlan or an ipvlan.
	Mode string `yaml:"mode,omitempty" json:"mode,omitempty"`
	// Remote end of a vxlan, an address.
	Remote string `yaml:"remote,omitempty" json:"remote,omitempty"`
	// Peer is the other end of a veth, which the node has as well.
	Peer string `yaml:"peer,omitempty" json:"peer,omitempty"`
}

// linkType is what a type of link has, and what NetworkManager calls it.
type linkType struct {
	profile string
	has     []string // of: ports, vlans, base, id, mode, remote, peer
	highest int      // id
	// modes are NetworkManager's words for what the topology says.
	modes map[string]string
}

// linkTypes are all that a topology may have on a node.
func linkTypes() map[string]linkType {
	same := func(names ...string) map[string]string {
		modes := map[string]string{}
		for _, name := range names {
			modes[name] = name
		}
		return modes
	}
	return map[string]linkType{
		"bond": {profile: "bond", has: []string{"ports", "mode"}, modes: same(
			"active-backup", "802.3ad", "balance-rr", "balance-xor", "broadcast", "balance-tlb", "balance-alb")},
		"dummy":        {profile: "dummy"},
		"ipvlan":       {profile: "ipvlan", has: []string{"base", "mode"}, modes: map[string]string{"l2": "1", "l3": "2", "l3s": "3"}},
		"linux-bridge": {profile: "bridge", has: []string{"ports", "vlans"}},
		"mac-vlan":     {profile: "macvlan", has: []string{"base", "mode"}, modes: map[string]string{"vepa": "1", "bridge": "2", "private": "3", "passthru": "4"}},
		// A bridge of Open vSwitch has its own interface as a port, where it is to have an
		// address, and a bond of NICs is one port of it.
		"ovs-bridge":    {profile: "ovs-bridge", has: []string{"ports"}},
		"ovs-bond":      {profile: "ovs-port", has: []string{"ports", "mode"}, modes: same("active-backup", "balance-slb", "balance-tcp")},
		"ovs-interface": {profile: "ovs-interface"},
		"veth":          {profile: "veth", has: []string{"peer"}},
		"vlan":          {profile: "vlan", has: []string{"base", "id"}, highest: 4094},
		"vrf":           {profile: "vrf", has: []string{"ports", "id"}, highest: 1 << 31},
		"vxlan":         {profile: "vxlan", has: []string{"base", "id", "remote"}, highest: 1<<24 - 1},
	}
}

func linkTypeNames() []string { return slices.Sorted(maps.Keys(linkTypes())) }

// way is the interface that carries the API server: the first NIC, or, where that
// has no address, the first link with one that leads to a switch.
func (n NodeSpec) way() NICSpec {
	if n.NICs[0].addressed() || n.NICs[0].onlyIPv6() {
		return n.NICs[0]
	}
	for _, l := range n.Links {
		if l.addressed() && l.Switch != "" {
			return l.NICSpec
		}
	}
	return n.NICs[0]
}

// ovs tells whether a type of link is one of Open vSwitch.
func ovs(kind string) bool { return strings.HasPrefix(kind, "ovs-") }

func (n NodeSpec) isNIC(name string) bool {
	return slices.ContainsFunc(n.NICs, func(nic NICSpec) bool { return nic.Name == name })
}

// interfaces are NICs and links.
func (n NodeSpec) interfaces() []NICSpec {
	all := slices.Clone(n.NICs)
	for _, l := range n.Links {
		all = append(all, l.NICSpec)
	}
	return all
}

// tagged are a bridge's VLANs in the words of its profile, and of those of its ports.
func (l LinkSpec) tagged() string {
	var all []string
	for _, id := range l.VLANs {
		all = append(all, strconv.Itoa(id))
	}
	return strings.Join(all, ",")
}

func (n NICSpec) addressed() bool { return n.Address != "" && n.Address != "none" }

// onlyIPv6 tells whether the topology gives it an IPv6 address and no other.
func (n NICSpec) onlyIPv6() bool {
	return !n.addressed() && n.Address6 != "" && n.Address6 != "none"
}

// controller is the link that an interface is a port of, if there is one.
func (n NodeSpec) controller(name string) (LinkSpec, bool) {
	for _, l := range n.Links {
		if slices.Contains(l.Ports, name) {
			return l, true
		}
	}
	return LinkSpec{}, false
}

// made are the links with both ends of each veth.
func (n NodeSpec) made() []LinkSpec {
	var all []LinkSpec
	for _, l := range n.Links {
		all = append(all, l)
		if l.Type == "veth" {
			all = append(all, LinkSpec{NICSpec: NICSpec{Name: l.Peer}, Type: l.Type, Peer: l.Name})
		}
	}
	return all
}

func (n NICSpec) counted(k int) NICSpec {
	n.Address, n.Address6 = countUp(n.Address, k), countUp(n.Address6, k)
	return n
}

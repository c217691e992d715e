package state

import (
	"net/netip"
	"slices"
	"strings"
)

// Interface is one entry of a state's interfaces. Type and State are empty
// where the document says nothing.
type Interface struct {
	Name  string
	Type  string
	State string
	// ProfileName is NetworkManager's name for it; an interface that is
	// identified by its MAC address is written with this name.
	ProfileName string

	tree map[string]any
}

// Family chooses between IPv4 and IPv6.
type Family string

// The address families, spelt as nmstate's keys.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// Interfaces are the interfaces in the document's order.
func (s State) Interfaces() []Interface {
	trees := objects(s.tree["interfaces"])
	found := make([]Interface, 0, len(trees))
	for _, tree := range trees {
		found = append(found, interfaceOf(tree))
	}
	return found
}

// Interface finds the first interface with this name, or else with this
// profile name.
func (s State) Interface(name string) (Interface, bool) {
	trees := objects(s.tree["interfaces"])
	for _, key := range []string{"name", "profile-name"} {
		for _, tree := range trees {
			if name != "" && text(tree[key]) == name {
				return interfaceOf(tree), true
			}
		}
	}
	return Interface{}, false
}

func interfaceOf(tree map[string]any) Interface {
	return Interface{
		Name:        text(tree["name"]),
		Type:        text(tree["type"]),
		State:       text(tree["state"]),
		ProfileName: text(tree["profile-name"]),
		tree:        tree,
	}
}

// Tree is a deep copy of everything the document says about the interface.
func (i Interface) Tree() map[string]any { return copiedObject(i.tree) }

// MTU is the size in bytes; false where the document gives none.
func (i Interface) MTU() (int64, bool) { return integer(i.tree["mtu"]) }

// MACAddress is the address as written, empty where there is none.
func (i Interface) MACAddress() string { return text(i.tree["mac-address"]) }

// Controller is the interface that this one is a port of. said is false where
// the document says nothing; an explicit "" detaches.
func (i Interface) Controller() (name string, said bool) {
	for _, key := range []string{"controller", "master"} {
		if value, ok := i.tree[key]; ok {
			return text(value), true
		}
	}
	return "", false
}

// Enabled tells whether the family is switched on; false, false where the
// document does not say.
func (i Interface) Enabled(family Family) (enabled, said bool) {
	return truth(object(i.tree[string(family)])["enabled"])
}

// Dynamic tells whether the family's addresses come from DHCP or router
// advertisements.
func (i Interface) Dynamic(family Family) bool {
	return isDynamic(object(i.tree[string(family)]))
}

// dynamicKeys are those of DHCP and router advertisements.
func dynamicKeys() []string { return []string{"dhcp", "autoconf"} }

func isDynamic(ip map[string]any) bool {
	return slices.ContainsFunc(dynamicKeys(), func(key string) bool {
		on, _ := truth(ip[key])
		return on
	})
}

// Automatic is what the document says of one of the family's automatic things, such
// as "auto-gateway"; false, false where it does not say.
func (i Interface) Automatic(family Family, key string) (on, said bool) {
	return truth(object(i.tree[string(family)])[key])
}

// asksForIP tells whether a family of the interface is on.
func (i Interface) asksForIP() bool {
	ipv4, _ := i.Enabled(IPv4)
	ipv6, _ := i.Enabled(IPv6)
	return ipv4 || ipv6
}

// Addresses are the family's addresses in normal form ("192.0.2.1/24",
// "2001:db8::1/64"), in the document's order.
func (i Interface) Addresses(family Family) []string {
	var found []string
	for _, address := range objects(object(i.tree[string(family)])["address"]) {
		found = append(found, normalAddress(address))
	}
	return found
}

// HasAddress tells whether an interface has the address, of whatever prefix length.
func (s State) HasAddress(address netip.Addr) bool {
	for _, one := range s.Interfaces() {
		for _, family := range []Family{IPv4, IPv6} {
			for _, has := range one.Addresses(family) {
				if prefix, err := netip.ParsePrefix(has); err == nil && prefix.Addr() == address {
					return true
				}
			}
		}
	}
	return false
}

// BaseInterface is what a VLAN, VXLAN, MACVLAN, MACVTAP, IPVLAN, MACsec,
// InfiniBand child or tunnel stands on; empty for others.
func (i Interface) BaseInterface() string {
	for _, section := range []string{"vlan", "vxlan", "mac-vlan", "mac-vtap", "ipvlan", "macsec", "infiniband", "ip-tunnel"} {
		tree := object(i.tree[section])
		for _, key := range []string{"base-iface", "base-interface"} {
			if base := text(tree[key]); base != "" {
				return base
			}
		}
	}
	return ""
}

// VLANID is the id of a VLAN interface.
func (i Interface) VLANID() (int64, bool) { return integer(object(i.tree["vlan"])["id"]) }

// Ports are the names of the ports of a bond, bridge, VRF or HSR, the ports
// of an OVS bond included, in the document's order and each once.
func (i Interface) Ports() []string {
	ports, _ := i.ports()
	return ports
}

// SaysPorts tells whether the document lists ports, be it none: without a
// list they stay as they are.
func (i Interface) SaysPorts() bool {
	_, said := i.ports()
	return said
}

func (i Interface) ports() (found []string, said bool) {
	add := func(name string) {
		if name != "" && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	for _, section := range []string{"link-aggregation", "vrf", "bond"} {
		for _, key := range []string{"port", "ports", "slaves", "ports-config"} {
			value, ok := object(i.tree[section])[key]
			said = said || ok
			for _, item := range list(value) {
				add(portName(item))
			}
		}
	}
	for _, key := range []string{"port", "ports"} {
		value, ok := object(i.tree["bridge"])[key]
		said = said || ok
		for _, port := range objects(value) {
			if bond := bondOf(port); bond != nil {
				for _, item := range bondPorts(bond) {
					add(portName(item))
				}
				continue
			}
			add(text(port["name"]))
		}
	}
	for _, key := range []string{"port1", "port2", "interlink"} {
		value, ok := object(i.tree["hsr"])[key]
		said = said || ok
		add(text(value))
	}
	return found, said
}

// portName reads a port given by name or as an object with a name.
func portName(value any) string {
	if tree := object(value); tree != nil {
		return text(tree["name"])
	}
	return text(value)
}

func bondPorts(bond map[string]any) []any {
	for _, key := range []string{"port", "ports", "slaves"} {
		if items, ok := bond[key].([]any); ok {
			return items
		}
	}
	return nil
}

// WantedUp tells whether the document wants the interface up: also where it says
// nothing of it.
func (i Interface) WantedUp() bool { return i.isUp() }

// Authenticates tells whether the interface is let in by 802.1X.
func (i Interface) Authenticates() bool { return object(i.tree["802.1x"]) != nil }

// Peer is the other end of a veth pair.
func (i Interface) Peer() string { return text(object(i.tree["veth"])["peer"]) }

// IsAbsent tells whether the document wants the interface gone.
func (i Interface) IsAbsent() bool { return strings.EqualFold(i.State, "absent") }

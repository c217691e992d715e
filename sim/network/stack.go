package network

import "net/netip"

// Station is whatever sends and receives: a host, or a machine of the network's own.
type Station interface {
	// Name is unique in the network.
	Name() string
	// Stack is how the kernel stands now. The network keeps it until the next
	// change, so it is never written to again.
	Stack() *Stack
	// OnChange registers what is called whenever the Stack may have changed. It
	// may be called often, and asks nothing back at once.
	OnChange(func())
	// SetCarrier tells that a NIC has lost or got its carrier by what happened
	// to its cable or switch.
	SetCarrier(nic string, carrier bool)
	// AskAgain tells that whoever waits for a lease should ask for one now.
	AskAgain()
}

// Stack is the part of a kernel that decides where packets go.
type Stack struct {
	// Links in a fixed order.
	Links []Link
	// Routes of all tables, without those that addresses bring (see Address).
	Routes []Route
	// Rules of policy routing, beside the one that asks Main in the end.
	Rules []Rule
	// NameServers in the order in which they are asked: the global ones where
	// there are any, otherwise those of the interfaces.
	NameServers []netip.Addr
	// Forwards packets that are for others.
	Forwards bool
}

// Kind is a link's type, by nmstate's names. Kinds that are not listed here
// lead nowhere.
type Kind string

// The kinds that lead somewhere.
const (
	Ethernet     Kind = "ethernet"
	Veth         Kind = "veth"
	VLAN         Kind = "vlan"
	Bond         Kind = "bond"
	Bridge       Kind = "linux-bridge"
	OVSBridge    Kind = "ovs-bridge"
	OVSInterface Kind = "ovs-interface"
	VRF          Kind = "vrf"
	MACVLAN      Kind = "mac-vlan"
	IPVLAN       Kind = "ipvlan"
	Loopback     Kind = "loopback"
)

// Link is one network interface.
type Link struct {
	Name string
	Kind Kind
	// MAC is what neighbours and DHCP servers know it by.
	MAC string
	// Up is the administrator's word, Carrier the wire's. For a link on top of
	// others, carrier comes from those.
	Up, Carrier bool
	MTU         int
	// Controller is the bond, bridge or VRF that it is a port of; for an OVS
	// interface its bridge.
	Controller string
	// Base is what a VLAN or a MAC VLAN is on; Tag is the VLAN's id.
	Base string
	Tag  uint16
	// Backup: of a bond's ports only one is used, Primary if it can be.
	Backup  bool
	Primary string
	// Filters VLANs: of a bridge. Its ports say by Port which ones pass.
	Filters bool
	Port    *PortVLAN
	// Table of a VRF.
	Table     int
	Addresses []Address
}

// PortVLAN is what a port of a bridge lets pass. The zero value passes nothing,
// nil is the kernel's default: VLAN 1 untagged.
type PortVLAN struct {
	// Untagged is the VLAN of frames without a tag; 0 for none.
	Untagged uint16
	// Tagged are the ranges of VLANs that pass with their tags.
	Tagged []Range
}

// Range of VLAN ids, both ends included.
type Range struct{ From, To uint16 }

func (r Range) holds(id uint16) bool { return r.From <= id && id <= r.To }

// Address of a link.
type Address struct {
	// Prefix is the address and the length of its network.
	Prefix netip.Prefix
	// Metric of the route to its network.
	Metric int
	// NoRoute: it brings no route to its network.
	NoRoute bool
	// Tentative: nobody may use it yet, as it may be a duplicate.
	Tentative bool
}

// Main is the table that is used unless something says otherwise.
const Main = 254

// Route of a routing table.
type Route struct {
	// Destination; a prefix of length 0 is a default route.
	Destination netip.Prefix
	// Gateway is not valid for what is on the link.
	Gateway netip.Addr
	// Link by which it leaves.
	Link   string
	Metric int
	// Table; 0 is Main.
	Table int
	// Source to send from, if one is preferred.
	Source netip.Addr
	// Rejects: blackhole, unreachable and prohibit.
	Rejects bool
}

// Rule of policy routing: packets that it is about ask its table first.
type Rule struct {
	Priority int
	// From and To are not valid for all packets. A packet that a host sends of
	// its own has no source yet when it looks for a route.
	From, To netip.Prefix
	Table    int
	// Rejects: blackhole, unreachable and prohibit.
	Rejects bool
}

func (r Rule) matches(from, to netip.Addr) bool {
	return (!r.From.IsValid() || from.IsValid() && r.From.Contains(from)) && (!r.To.IsValid() || r.To.Contains(to))
}

func (r Route) table() int {
	if r.Table == 0 {
		return Main
	}
	return r.Table
}

// link finds a link by its name; -1 for none.
func (s *Stack) link(name string) int {
	for i := range s.Links {
		if s.Links[i].Name == name {
			return i
		}
	}
	return -1
}

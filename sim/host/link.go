package host

import (
	"net/netip"
)

// Link is an interface at one moment. It is never changed: a change puts
// another one in its place.
type Link struct {
	// Index is the kernel's number; a link that is made anew has another one.
	Index int
	Name  string
	// Type in nmstate's words: ethernet, veth, dummy, bond, vlan, linux-bridge,
	// vxlan, vrf, mac-vlan, ipvlan, ovs-bridge, ovs-interface, loopback.
	Type string
	// MAC as nmstate writes it, in capitals; Permanent is a NIC's own.
	MAC, Permanent string
	MTU            int
	// Up is the administrative state.
	Up bool
	// Cable tells of a NIC or a veth whether its far end is plugged in and up.
	Cable bool
	// Controller is the bridge, bond or VRF that it is a port of.
	Controller string
	// Alone is the MTU that it had before it became a port of a bond, which gives
	// its ports its own; the kernel puts it back (drivers/net/bonding).
	Alone int
	// Base is what a VLAN, VXLAN, MACVLAN or IPVLAN stands on.
	Base string
	// VLAN is the id of a VLAN.
	VLAN int
	// Table is a VRF's routing table.
	Table int
	// Peer is the other end of a veth pair.
	Peer string
	// Foreign: somebody else's (a pod's veth), which NetworkManager leaves alone.
	Foreign bool
	// Unused: NetworkManager has made it and died before it gave it its profile's
	// settings. It takes it up only when somebody activates the profile.
	Unused bool
	// IPv6Off is the kernel's disable_ipv6.
	IPv6Off   bool
	Addresses []Address
	// number is the metric that NetworkManager chose for its routes, and aspired the one
	// that it would have with no other link there; 0: it has no addresses of NetworkManager's.
	number, aspired int
	// given are metrics by family that NetworkManager was told for the moment.
	given [2]int
	// touches counts what NetworkManager did to it.
	touches int
	// Said is what NetworkManager's profile said when it was activated, in
	// nmstate's words: everything that the fields above do not say. Nil: the
	// link is only observed. It is shared and never changed.
	Said map[string]any
}

// Address of a link.
type Address struct {
	Prefix netip.Prefix
	// Dynamic: it was leased.
	Dynamic bool
	// Managed: NetworkManager has set it (noprefixroute).
	Managed bool
}

// Route of the kernel.
type Route struct {
	To netip.Prefix
	// Via is the gateway; not valid for a route on the link.
	Via netip.Addr
	// Dev is empty for a route that leads nowhere.
	Dev           string
	Table, Metric int
	// Protocol is the kernel's number: Boot for what a person or a CNI made.
	Protocol int
	// Said is what else nmstate said of it.
	Said map[string]any
}

// The kernel's numbers for who made a route (linux/rtnetlink.h, iproute2).
const (
	Kernel = 2
	Boot   = 3
	Static = 4
	RA     = 9
	DHCP   = 16
	Bird   = 12
)

// MainTable is the routing table of everybody.
const MainTable = 254

// is tells whether two routes are the same one to the kernel.
func (r Route) is(other Route) bool {
	return r.To == other.To && r.Via == other.Via && r.Dev == other.Dev && r.Table == other.Table && r.Metric == other.Metric
}

// IsDefault tells whether the route leads everywhere.
func (r Route) IsDefault() bool { return r.To.Bits() == 0 }

// userspace tells the links that the kernel does not know.
func (l *Link) userspace() bool { return l.Type == "ovs-bridge" }

// software tells the links that cease to exist when they are taken away.
func (l *Link) software() bool { return isSoftware(l.Type) }

func isSoftware(kind string) bool {
	switch kind {
	case "ethernet", "loopback", "":
		return false
	}
	return true
}

// has tells whether the link has the address.
func (l *Link) has(prefix netip.Prefix) bool {
	for _, a := range l.Addresses {
		if a.Prefix == prefix {
			return true
		}
	}
	return false
}

// HasAddress tells whether the link has this address, whatever its prefix length.
func (l *Link) HasAddress(address netip.Addr) bool {
	for _, a := range l.Addresses {
		if a.Prefix.Addr() == address {
			return true
		}
	}
	return false
}

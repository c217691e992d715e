package foreign

import (
	"fmt"
	"strings"
)

// Loss is one thing that is to be put back; one of Link, Address and Route is
// set, as it is to be given to the kernel.
type Loss struct {
	// Link is how the link is to be.
	Link    *Link
	Address Address
	Route   Route
	// Managed: NetworkManager makes such things itself, and may be about to.
	Managed bool
	// Slight: it is put back where that is possible, and not missed otherwise
	// (a link whose IPv6 is switched off has no place for it).
	Slight bool

	// noted is the address or the route as it was noted.
	noted []byte
	// plain is the route without the id of a nexthop object, which may be gone.
	plain Route
	// gone: the link itself is not there any more.
	gone bool
	what string
	// on are the names of the links that it is on.
	on []string
}

// String names what was lost, as ip would: "route 10.244.1.0/24 via 10.0.0.2
// dev eth1 proto boot".
func (l Loss) String() string { return l.what }

func described(want, is Link, links index) string {
	var parts []string
	if want.Master != is.Master {
		parts = append(parts, "master "+links.name(want.Master))
	}
	if want.Up != is.Up {
		parts = append(parts, "state up")
	}
	if want.MTU != is.MTU {
		parts = append(parts, fmt.Sprintf("mtu %d", want.MTU))
	}
	if want.IPv6Off != is.IPv6Off {
		parts = append(parts, "disable_ipv6 0")
	}
	return strings.Join(parts, ", ") + " of interface " + want.Name
}

func spelledAddress(a address, device string) string {
	if a.peer.Addr() != a.local {
		return fmt.Sprintf("address %s peer %s dev %s", a.local, a.peer, device)
	}
	return fmt.Sprintf("address %s dev %s", a.peer, device)
}

func spelledRoute(r route, links index) string {
	var b strings.Builder
	b.WriteString("route " + r.key.to.String())
	for _, h := range r.hops {
		if len(r.hops) > 1 {
			b.WriteString(" nexthop")
		}
		if h.gateway.IsValid() {
			b.WriteString(" via " + h.gateway.String())
		}
		if name := links.name(h.device); name != "" {
			b.WriteString(" dev " + name)
		}
	}
	if r.key.table != tableMain {
		fmt.Fprintf(&b, " table %d", r.key.table)
	}
	b.WriteString(" proto " + protocolName(r.protocol))
	if r.key.metric != 0 && !(r.key.ipv6 && r.key.metric == defaultMetric6) {
		fmt.Fprintf(&b, " metric %d", r.key.metric)
	}
	return b.String()
}

// defaultMetric6 is what the kernel gives an IPv6 route that names none.
const defaultMetric6 = 1024

// protocolName is ip's name of a route's protocol (iproute2, rt_protos).
func protocolName(protocol uint8) string {
	switch protocol {
	case protocolKernel:
		return "kernel"
	case protocolBoot:
		return "boot"
	case protocolStatic:
		return "static"
	case protocolDHCP:
		return "dhcp"
	case 11:
		return "zebra"
	case 12:
		return "bird"
	case 18:
		return "keepalived"
	case 42:
		return "babel"
	case 186:
		return "bgp"
	case 188:
		return "ospf"
	}
	return fmt.Sprint(protocol)
}

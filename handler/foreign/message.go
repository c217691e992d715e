package foreign

import (
	"encoding/binary"
	"net/netip"
)

// The kernel's numbers (linux/rtnetlink.h, linux/if_addr.h). They are spelt
// here since a journal may be read where no Linux is.
const (
	familyIPv4 = 2
	familyIPv6 = 10

	addressHeader = 8  // struct ifaddrmsg
	routeHeader   = 12 // struct rtmsg
	nextHopHeader = 8  // struct rtnexthop

	ifaAddress, ifaLocal, ifaFlags = 1, 2, 8

	flagNoPrefixRoute = 0x200
	flagPermanent     = 0x80

	rtaDst, rtaOIF, rtaGateway, rtaPriority    = 1, 4, 5, 6
	rtaMultipath, rtaCacheInfo, rtaTable       = 9, 12, 15
	rtaVia, rtaEncapType, rtaEncap, rtaExpires = 18, 21, 22, 23
	rtaNextHopID                               = 30

	protocolRedirect, protocolKernel, protocolBoot = 1, 2, 3
	protocolStatic, protocolRA, protocolDHCP       = 4, 9, 16

	typeUnicast, typeMulticast = 1, 5

	routeCloned = 0x200
	// hopOnLink is the one flag of a next hop that somebody sets; the others
	// say how the kernel fares with it, and it refuses them.
	hopOnLink = 0x4

	scopeLink  = 253
	tableLocal = 255
	tableMain  = 254

	attributeType = 0x3fff
)

// attribute is one netlink attribute; start is where it begins in the message.
type attribute struct {
	kind  uint16
	value []byte
	start int
}

// attributes reads those from offset on; it stops at what is malformed.
func attributes(message []byte, offset int) []attribute {
	var found []attribute
	for len(message)-offset >= 4 {
		length := int(binary.NativeEndian.Uint16(message[offset:]))
		if length < 4 || offset+length > len(message) {
			break
		}
		kind := binary.NativeEndian.Uint16(message[offset+2:]) & attributeType
		found = append(found, attribute{kind: kind, value: message[offset+4 : offset+length], start: offset})
		offset += (length + 3) &^ 3
	}
	return found
}

func number(value []byte) int {
	if len(value) < 4 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(value))
}

// address is what is compared of an Address.
type address struct {
	device int
	ipv6   bool
	// local is the node's own; peer the other end, or local once more.
	local   netip.Addr
	peer    netip.Prefix
	link    bool // Of link scope.
	dynamic bool
	managed bool
}

func (a Address) read() (address, bool) {
	if len(a) < addressHeader {
		return address{}, false
	}
	found := address{device: number(a[4:]), ipv6: a[0] == familyIPv6, link: a[3] == scopeLink}
	flags := int(a[2])
	var near, far netip.Addr
	for _, attribute := range attributes(a, addressHeader) {
		switch attribute.kind {
		case ifaAddress:
			far, _ = netip.AddrFromSlice(attribute.value)
		case ifaLocal:
			near, _ = netip.AddrFromSlice(attribute.value)
		case ifaFlags:
			flags = number(attribute.value)
		}
	}
	if !near.IsValid() {
		near = far
	}
	found.local, found.peer = near, netip.PrefixFrom(far, int(a[1]))
	found.dynamic = flags&flagPermanent == 0
	found.managed = found.dynamic || flags&flagNoPrefixRoute != 0
	return found, near.IsValid() && far.IsValid()
}

// hop is one way that a route leads.
type hop struct {
	device  int
	gateway netip.Addr // Not valid: on the link.
}

// route is what is compared of a Route.
type route struct {
	key      routeKey
	protocol uint8
	kind     uint8
	cloned   bool
	expires  bool
	hops     []hop
}

// routeKey is what the kernel tells routes of one family apart by.
type routeKey struct {
	ipv6   bool
	table  int
	to     netip.Prefix
	tos    uint8
	metric int
}

func (r Route) read() (route, bool) {
	if len(r) < routeHeader {
		return route{}, false
	}
	found := route{
		key:      routeKey{ipv6: r[0] == familyIPv6, table: int(r[4]), tos: r[3]},
		protocol: r[5], kind: r[7], cloned: number(r[8:])&routeCloned != 0,
	}
	if r[0] != familyIPv4 && r[0] != familyIPv6 {
		return route{}, false
	}
	to := netip.IPv4Unspecified()
	if found.key.ipv6 {
		to = netip.IPv6Unspecified()
	}
	single := hop{}
	for _, attribute := range attributes(r, routeHeader) {
		switch attribute.kind {
		case rtaDst:
			to, _ = netip.AddrFromSlice(attribute.value)
		case rtaTable:
			found.key.table = number(attribute.value)
		case rtaPriority:
			found.key.metric = number(attribute.value)
		case rtaOIF, rtaGateway, rtaVia:
			single.take(attribute)
		case rtaMultipath:
			found.hops = hopsOf(attribute.value)
		case rtaExpires:
			found.expires = true
		case rtaCacheInfo: // struct rta_cacheinfo
			found.expires = found.expires || len(attribute.value) >= 12 && number(attribute.value[8:]) != 0
		}
	}
	if single != (hop{}) {
		found.hops = append(found.hops, single)
	}
	found.key.to = netip.PrefixFrom(to, int(r[1]))
	return found, to.IsValid()
}

func (h *hop) take(a attribute) {
	switch a.kind {
	case rtaOIF:
		h.device = number(a.value)
	case rtaGateway:
		h.gateway, _ = netip.AddrFromSlice(a.value)
	case rtaVia: // The family comes first.
		if len(a.value) > 2 {
			h.gateway, _ = netip.AddrFromSlice(a.value[2:])
		}
	}
}

func hopsOf(value []byte) []hop {
	var found []hop
	eachHop(value, func(one []byte) {
		h := hop{device: number(one[4:])}
		for _, attribute := range attributes(one, nextHopHeader) {
			h.take(attribute)
		}
		found = append(found, h)
	})
	return found
}

// eachHop calls with each struct rtnexthop and its attributes.
func eachHop(value []byte, call func(one []byte)) {
	for len(value) >= nextHopHeader {
		length := int(binary.NativeEndian.Uint16(value))
		if length < nextHopHeader || length > len(value) {
			return
		}
		call(value[:length:length])
		value = value[min((length+3)&^3, len(value)):]
	}
}

// gateways tells whether the route leads through another host.
func (r route) gateways() bool {
	for _, h := range r.hops {
		if h.gateway.IsValid() {
			return true
		}
	}
	return false
}

package foreign

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// node builds a snapshot of a node by hand.
type node struct {
	t *testing.T
	Snapshot
}

// aNode has eth0 (2), eth1 (3), the bridge br1 (4) and a pod's veth (5).
func aNode(t *testing.T) *node {
	n := &node{t: t}
	n.Links = []Link{
		{Name: "lo", Index: 1, MTU: 65536, Up: true, Carrier: true},
		{Name: "eth0", Index: 2, MTU: 1500, MAC: "02:00:00:00:00:02", Up: true, Carrier: true},
		{Name: "eth1", Index: 3, MTU: 1500, MAC: "02:00:00:00:00:03", Up: true, Carrier: true},
		{Name: "br1", Index: 4, Kind: "bridge", MTU: 1500, Up: true, Carrier: true},
		{Name: "pod1", Index: 5, Kind: "veth", Master: 4, MTU: 1450, Up: true, Carrier: true},
		{Name: "eth1.7", Index: 6, Kind: "vlan", Parent: 3, MTU: 1500, Up: true, Carrier: true},
	}
	return n
}

func (n *node) link(name string) *Link {
	for i := range n.Links {
		if n.Links[i].Name == name {
			return &n.Links[i]
		}
	}
	n.t.Fatalf("no link %s", name)
	return nil
}

func (n *node) change(name string, change func(*Link)) *node {
	change(n.link(name))
	return n
}

func (n *node) without(name string) *node {
	gone := n.link(name).Index
	var kept []Link
	for _, link := range n.Links {
		if link.Index != gone {
			kept = append(kept, link)
		}
	}
	n.Links = kept
	return n
}

func attr(kind uint16, value ...byte) []byte {
	packet := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	packet = binary.NativeEndian.AppendUint16(packet, kind)
	packet = append(packet, value...)
	for len(packet)%4 != 0 {
		packet = append(packet, 0)
	}
	return packet
}

func word(n int) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }

// flags of addresses in tests.
const (
	byHand = flagPermanent
	byNM   = flagPermanent | flagNoPrefixRoute
	leased = 0
)

func (n *node) address(device, prefix string, flags int) *node {
	p := netip.MustParsePrefix(prefix)
	message := []byte{familyIPv4, byte(p.Bits()), 0, 0}
	if p.Addr().Is6() {
		message[0] = familyIPv6
		if p.Addr().IsLinkLocalUnicast() {
			message[3] = scopeLink
		}
	}
	message = append(message, word(n.link(device).Index)...)
	message = append(message, attr(ifaAddress, p.Addr().AsSlice()...)...)
	if p.Addr().Is4() {
		message = append(message, attr(ifaLocal, p.Addr().AsSlice()...)...)
	}
	message = append(message, attr(ifaFlags, word(flags)...)...)
	n.Addresses = append(n.Addresses, message)
	return n
}

// way is a next hop in a test.
type way struct{ device, gateway string }

type routeSpec struct {
	to       string
	ways     []way
	protocol byte
	metric   int
	table    int
	kind     byte // Unicast if 0.
	extra    []byte
}

func (n *node) route(s routeSpec) *node {
	p := netip.MustParsePrefix(s.to)
	if s.table == 0 {
		s.table = tableMain
	}
	message := []byte{familyIPv4, byte(p.Bits()), 0, 0, byte(min(s.table, 252)), s.protocol, 0, max(s.kind, typeUnicast), 0, 0, 0, 0}
	if p.Addr().Is6() {
		message[0] = familyIPv6
	}
	message = append(message, attr(rtaTable, word(s.table)...)...)
	message = append(message, attr(rtaDst, p.Addr().AsSlice()...)...)
	message = append(message, attr(rtaPriority, word(s.metric)...)...)
	if len(s.ways) == 1 {
		message = append(message, n.ways(s.ways[0])...)
	} else if len(s.ways) > 1 {
		var hops []byte
		for _, w := range s.ways {
			gateway := attr(rtaGateway, netip.MustParseAddr(w.gateway).AsSlice()...)
			hops = binary.NativeEndian.AppendUint16(hops, uint16(nextHopHeader+len(gateway)))
			hops = append(hops, 0, 0)
			hops = append(hops, word(n.link(w.device).Index)...)
			hops = append(hops, gateway...)
		}
		message = append(message, attr(rtaMultipath, hops...)...)
	}
	n.Routes = append(n.Routes, append(message, s.extra...))
	return n
}

func (n *node) ways(w way) []byte {
	message := attr(rtaOIF, word(n.link(w.device).Index)...)
	if w.gateway != "" {
		message = append(message, attr(rtaGateway, netip.MustParseAddr(w.gateway).AsSlice()...)...)
	}
	return message
}

// via is a route of the protocol boot through a gateway.
func (n *node) via(to, device, gateway string) *node {
	return n.route(routeSpec{to: to, ways: []way{{device, gateway}}, protocol: protocolBoot})
}

func document(t *testing.T, text string) state.State {
	t.Helper()
	parsed, err := state.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

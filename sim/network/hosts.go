package network

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

// hosted is a Station that is a host.
type hosted struct {
	*host.Host

	stack    *Stack
	revision uint64
}

// Name implements Station.
func (h *hosted) Name() string { return h.Host.Name }

// OnChange implements Station.
func (h *hosted) OnChange(f func()) { h.Touched = f }

// SetCarrier implements Station.
func (h *hosted) SetCarrier(nic string, carrier bool) { h.SetCable(nic, carrier) }

// AskAgain implements Station.
func (h *hosted) AskAgain() { h.AskDHCP() }

// Stack implements Station.
func (h *hosted) Stack() *Stack {
	if h.stack == nil || h.revision != h.Revision() {
		h.revision, h.stack = h.Revision(), stackOf(h.Host)
	}
	return h.stack
}

// Join plugs a node's host in, by the node's plan, and has it ask the network
// for leases, duplicates and neighbours. The station is what the network calls it.
func (c *Cluster) Join(node Node, h *host.Host) Station {
	s := &hosted{Host: h}
	h.DHCP = leases{c.Network, s, c.world.Rand("router advertisements " + h.Name)}
	h.Claimed = func(link string, a netip.Addr) bool { return c.Claimed(s, link, a) != "" }
	h.Neighbours = func(nic string) []state.Neighbour { return c.Neighbours(s, nic) }
	c.Hook(node, s)
	h.AskDHCP()
	return s
}

// HostNICs are the node's NICs for host.Options: those with an address have
// a profile.
func (n Node) HostNICs() []host.NIC {
	var nics []host.NIC
	for _, nic := range n.NICs {
		one := host.NIC{Name: nic.Name, MAC: nic.MAC, DHCP4: nic.DHCP, RA: nic.Auto}
		for _, a := range []netip.Prefix{nic.Address, nic.Address6} {
			if a.IsValid() {
				one.Addresses = append(one.Addresses, a)
			}
		}
		for _, g := range []netip.Addr{nic.Gateway, nic.Gateway6} {
			if g.IsValid() {
				one.Gateways = append(one.Gateways, g)
			}
		}
		if nic.NameServer.IsValid() {
			one.DNS = []string{nic.NameServer.String()}
		}
		one.Profile = len(one.Addresses) > 0 || one.DHCP4 || one.RA
		nics = append(nics, one)
	}
	return nics
}

// leases answers a host's questions (host.DHCPServer).
type leases struct {
	network *Network
	station *hosted
	rand    *rand.Rand
}

// Lease implements host.DHCPServer.
func (l leases) Lease(_ *host.Host, link, family string) (host.Lease, time.Duration, bool) {
	if family == "ipv6" {
		return l.advertised(link)
	}
	lease, takes, granted := l.network.Discover(l.station, link)
	given := host.Lease{Address: lease.Address, Gateway: lease.Gateway}
	for _, s := range lease.NameServers {
		given.Servers = append(given.Servers, s.String())
	}
	return given, takes, granted
}

// mostRA is how long a router's answer to a solicitation takes (RFC 4861, section 10).
const mostRA = 500 * time.Millisecond

func (l leases) advertised(link string) (host.Lease, time.Duration, bool) {
	said, heard := l.network.Solicit(l.station, link)
	own := l.station.Link(link)
	if !heard || own == nil {
		return host.Lease{}, 0, false
	}
	address, made := fromMAC(said.Prefix, own.MAC)
	given := host.Lease{Address: address, Gateway: said.Router}
	for _, s := range said.NameServers {
		if s.IsLinkLocalUnicast() {
			s = s.WithZone(link)
		}
		given.Servers = append(given.Servers, s.String())
	}
	return given, between(l.rand, 0, mostRA), made
}

var linkLocal = netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80}), 64)

// fromMAC makes the address that a MAC gives in a prefix (RFC 4291, appendix A).
func fromMAC(prefix netip.Prefix, mac string) (netip.Prefix, bool) {
	const octets = 6
	raw := prefix.Masked().Addr().As16()
	parts := strings.Split(mac, ":")
	if len(parts) != octets {
		return netip.Prefix{}, false
	}
	place := [octets]int{8, 9, 10, 13, 14, 15}
	for i, part := range parts {
		value, err := strconv.ParseUint(part, 16, 8)
		if err != nil {
			return netip.Prefix{}, false
		}
		raw[place[i]] = byte(value)
	}
	raw[8] ^= 2
	raw[11], raw[12] = 0xff, 0xfe
	return netip.PrefixFrom(netip.AddrFrom16(raw), prefix.Bits()), true
}

// stackOf reads a host.
func stackOf(h *host.Host) *Stack {
	s := &Stack{}
	links := h.Links()
	for _, l := range links {
		s.Links = append(s.Links, linkOf(l, links))
	}
	for _, r := range h.Routes() {
		s.Routes = append(s.Routes, Route{Destination: r.To, Gateway: r.Via, Link: r.Dev, Metric: r.Metric, Table: r.Table, Rejects: r.Dev == ""})
	}
	for _, r := range h.Rules() {
		if rule, is := ruleOf(r); is {
			s.Rules = append(s.Rules, rule)
		}
	}
	for _, said := range h.NameServers() {
		if a, err := netip.ParseAddr(said); err == nil {
			s.NameServers = append(s.NameServers, a)
		}
	}
	return s
}

// ruleOf reads a rule; false for one that is about packets of others only: with
// a mark, or that came in by a link.
func ruleOf(t map[string]any) (Rule, bool) {
	in, _ := t["iif"].(string)
	if t["fwmark"] != nil || in != "" && in != "lo" {
		return Rule{}, false
	}
	action, _ := t["action"].(string)
	rule := Rule{Priority: integer(t["priority"]), Table: integer(t["route-table"]), Rejects: action != ""}
	if rule.Table == 0 {
		rule.Table = Main
	}
	from, fromOK := prefixOf(t["ip-from"])
	to, toOK := prefixOf(t["ip-to"])
	rule.From, rule.To = from, to
	switch {
	case to.IsValid():
	case t["family"] == "ipv6":
		rule.To = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	default:
		rule.To = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return rule, fromOK && toOK
}

// prefixOf reads a prefix, or an address; nothing is all.
func prefixOf(value any) (netip.Prefix, bool) {
	written, _ := value.(string)
	if written == "" {
		return netip.Prefix{}, true
	}
	if a, err := netip.ParseAddr(written); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	p, err := netip.ParsePrefix(written)
	return p, err == nil
}

// linkOf is a host's link. An OVS bridge gets another name, since an interface may
// have its own.
func linkOf(l *host.Link, links []*host.Link) Link {
	link := Link{
		Name: l.Name, Kind: Kind(l.Type), MAC: l.MAC, Up: l.Up, Carrier: true, MTU: l.MTU, Controller: l.Controller, Base: l.Base,
		Tag: uint16(l.VLAN), Table: l.Table,
	}
	if link.Kind == Ethernet || link.Kind == Veth {
		link.Carrier = l.Cable
	}
	if link.Kind == OVSBridge {
		link.Name = bridgeName(l.Name)
	}
	for _, a := range l.Addresses {
		link.Addresses = append(link.Addresses, Address{Prefix: a.Prefix, NoRoute: true}) // Its route is in the host's list.
	}
	if own, made := fromMAC(linkLocal, l.MAC); made && !l.IPv6Off && link.Kind != Loopback {
		link.Addresses = append(link.Addresses, Address{Prefix: own, NoRoute: true})
	}
	if link.Kind == Bond {
		bonded := said(l.Said, "link-aggregation")
		mode := fmt.Sprint(bonded["mode"])
		link.Backup = mode == "active-backup" || mode == "1"
		link.Primary, _ = said(bonded, "options")["primary"].(string)
	}
	if link.Kind == Bridge {
		link.Filters = slices.ContainsFunc(portsSaid(l), func(p map[string]any) bool { return len(said(p, "vlan")) > 0 })
	}
	for _, c := range links {
		if c.Name != l.Controller || c == l || Kind(c.Type) == OVSInterface {
			continue
		}
		if Kind(c.Type) == OVSBridge {
			link.Controller = bridgeName(c.Name)
		}
		for _, p := range portsSaid(c) {
			if p["name"] == l.Name {
				link.Port = portVLAN(said(p, "vlan"))
			}
		}
	}
	return link
}

func bridgeName(name string) string { return name + " (" + string(OVSBridge) + ")" }

// said goes down into nmstate's words.
func said(t map[string]any, key string) map[string]any {
	found, _ := t[key].(map[string]any)
	return found
}

func portsSaid(l *host.Link) []map[string]any {
	bridge := said(l.Said, "bridge")
	var found []map[string]any
	for _, key := range []string{"port", "ports"} {
		list, _ := bridge[key].([]any)
		for _, item := range list {
			if p, is := item.(map[string]any); is {
				found = append(found, p)
			}
		}
	}
	return found
}

// portVLAN reads the section vlan of a bridge's port; nil where there is none.
// NetworkManager leaves the default VLAN untagged where nothing else is.
func portVLAN(vlan map[string]any) *PortVLAN {
	if len(vlan) == 0 {
		return nil
	}
	port := &PortVLAN{Untagged: defaultVLAN}
	native, _ := vlan["enable-native"].(bool)
	if tag := number(vlan["tag"]); tag != 0 && (vlan["mode"] != "trunk" || native) {
		port.Untagged = tag
	}
	tags, _ := vlan["trunk-tags"].([]any)
	for _, item := range tags {
		tag, _ := item.(map[string]any)
		between := said(tag, "id-range")
		if id := number(tag["id"]); id != 0 {
			port.Tagged = append(port.Tagged, Range{id, id})
		} else if between != nil {
			port.Tagged = append(port.Tagged, Range{number(between["min"]), number(between["max"])})
		}
	}
	return port
}

// number is a VLAN's id.
func number(value any) uint16 { return uint16(integer(value) & 0xfff) } //nolint:gosec // It has 12 bits.

func integer(value any) int {
	n, err := strconv.Atoi(fmt.Sprint(value))
	if err != nil {
		return 0
	}
	return n
}

package network

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// view is what follows from a station's stack and its cables.
type view struct {
	stack *Stack
	// wires are the domains that each link leads to, by the link's index.
	wires [][]domain
	local []local
	// routes, those of addresses included.
	routes []hop
	// rules that come before the one for Main, by their priorities.
	rules []Rule
}

// mainPriority is that of the kernel's rule for Main (linux/fib_rules.h).
const mainPriority = 32766

// local is an address at which packets arrive.
type local struct {
	address netip.Addr
	link    int
	table   int
}

// hop is a route with its link found.
type hop struct {
	Route

	link int
}

// maxLayers is deeper than any stack of links; one that refers to itself ends there.
const maxLayers = 8

func look(m *member) *view {
	s := m.station.Stack()
	v := &view{stack: s, wires: make([][]domain, len(s.Links))}
	l := layers{m, s}
	for i := range s.Links {
		if l.addressable(i) == "" {
			v.wires[i] = l.down(i, 0, maxLayers)
		}
		v.addAddresses(l, i)
	}
	for _, r := range s.Routes {
		if i := s.link(r.Link); r.Rejects || i >= 0 && s.Links[i].Up {
			v.routes = append(v.routes, hop{r, i})
		}
	}
	for _, r := range s.Rules {
		if r.Priority < mainPriority {
			v.rules = append(v.rules, r)
		}
	}
	slices.SortStableFunc(v.rules, func(a, b Rule) int { return a.Priority - b.Priority })
	return v
}

// addAddresses of a link. The addresses and routes of one that is switched off
// do not count.
func (v *view) addAddresses(l layers, i int) {
	link := &l.stack.Links[i]
	if !link.Up {
		return
	}
	table := l.table(i)
	for _, a := range link.Addresses {
		if a.Tentative {
			continue
		}
		v.local = append(v.local, local{a.Prefix.Addr(), i, table})
		if !a.NoRoute {
			v.routes = append(v.routes, hop{Route{
				Destination: a.Prefix.Masked(), Link: link.Name, Metric: a.Metric, Table: table, Source: a.Prefix.Addr(),
			}, i})
		}
	}
}

// layers go from a link down to the NICs below.
type layers struct {
	member *member
	stack  *Stack
}

// addressable says why packets cannot come and go through a link as such; empty
// where they can.
func (l layers) addressable(i int) string {
	link := &l.stack.Links[i]
	if !link.Up {
		return link.Name + " is down"
	}
	if !link.Carrier && link.Kind != Loopback {
		return link.Name + " has no carrier"
	}
	if c := l.stack.link(link.Controller); c >= 0 && l.stack.Links[c].Kind != VRF && link.Kind != OVSInterface {
		return link.Name + " is a port of " + link.Controller
	}
	return ""
}

// table is where a link's routes are.
func (l layers) table(i int) int {
	if c := l.stack.link(l.stack.Links[i].Controller); c >= 0 && l.stack.Links[c].Kind == VRF {
		return l.stack.Links[c].Table
	}
	return Main
}

// down finds the domains in which a frame with that tag, 0 for none, arrives
// when the link sends it.
func (l layers) down(i int, tag uint16, depth int) []domain {
	link := &l.stack.Links[i]
	if !link.Up || !link.Carrier || depth == 0 {
		return nil
	}
	switch link.Kind {
	case Ethernet, Veth:
		if p := l.member.ports[link.Name]; p != nil && p.carrier() {
			if d, passes := p.domain(tag); passes {
				return []domain{d}
			}
		}
	case VLAN:
		if base := l.stack.link(link.Base); base >= 0 && tag == 0 {
			return l.down(base, link.Tag, depth-1)
		}
	case MACVLAN, IPVLAN:
		if base := l.stack.link(link.Base); base >= 0 {
			return l.down(base, tag, depth-1)
		}
	case Bond:
		return l.bond(link, tag, depth)
	case Bridge:
		return l.bridge(i, tag, depth)
	case OVSInterface:
		if bridge := l.stack.link(link.Controller); bridge >= 0 {
			if link.Port != nil && tag == 0 {
				tag = link.Port.Untagged
			}
			return l.ovs(bridge, tag, depth)
		}
	}
	return nil
}

// ports of a controller, in their order.
func (l layers) ports(of string) []int {
	var found []int
	for i := range l.stack.Links {
		if l.stack.Links[i].Controller == of {
			found = append(found, i)
		}
	}
	return found
}

func (l layers) bond(link *Link, tag uint16, depth int) []domain {
	ports := l.ports(link.Name)
	if link.Backup {
		primary := func(p int) bool { return l.stack.Links[p].Name == link.Primary }
		slices.SortStableFunc(ports, func(a, b int) int {
			switch {
			case primary(a) && !primary(b):
				return -1
			case primary(b) && !primary(a):
				return 1
			}
			return 0
		})
	}
	var all []domain
	for _, p := range ports {
		// A port without carrier is passed over; one behind which nothing answers is not.
		if !l.stack.Links[p].Up || !l.stack.Links[p].Carrier || !l.wired(p) {
			continue
		}
		all = union(all, l.down(p, tag, depth-1))
		if link.Backup {
			break
		}
	}
	return all
}

// wired tells whether a bond's port has carrier as far as the network knows.
func (l layers) wired(i int) bool {
	link := &l.stack.Links[i]
	if link.Kind != Ethernet && link.Kind != Veth {
		return true
	}
	p := l.member.ports[link.Name]
	return p != nil && p.carrier()
}

// bridge sends a frame of its own, with that tag, through its ports.
func (l layers) bridge(i int, tag uint16, depth int) []domain {
	link := &l.stack.Links[i]
	var all []domain
	for _, p := range l.ports(link.Name) {
		out := tag
		if link.Filters {
			var passes bool
			if out, passes = filtered(tag, l.stack.Links[p].Port); !passes {
				continue
			}
		}
		all = union(all, l.down(p, out, depth-1))
	}
	return all
}

// defaultVLAN is the one that a bridge's own untagged frames, and those of a
// port that nobody configured, are in.
const defaultVLAN = 1

// filtered is the tag with which a bridge's frame leaves a port.
func filtered(tag uint16, port *PortVLAN) (uint16, bool) {
	vlan := tag
	if vlan == 0 {
		vlan = defaultVLAN
	}
	if port == nil {
		return 0, vlan == defaultVLAN
	}
	if vlan == port.Untagged {
		return 0, true
	}
	return vlan, slices.ContainsFunc(port.Tagged, func(r Range) bool { return r.holds(vlan) })
}

// ovs sends a frame of a VLAN through the ports of an Open vSwitch bridge. A port
// without a VLAN is a trunk.
func (l layers) ovs(bridge int, vlan uint16, depth int) []domain {
	if !l.stack.Links[bridge].Up {
		return nil
	}
	var all []domain
	for _, p := range l.ports(l.stack.Links[bridge].Name) {
		link := &l.stack.Links[p]
		if link.Kind == OVSInterface {
			continue
		}
		out := vlan
		if link.Port != nil {
			if link.Port.Untagged == vlan {
				out = 0
			} else if !slices.ContainsFunc(link.Port.Tagged, func(r Range) bool { return r.holds(vlan) }) {
				continue
			}
		}
		all = union(all, l.down(p, out, depth-1))
	}
	return all
}

func union(a, b []domain) []domain {
	for _, d := range b {
		if !slices.Contains(a, d) {
			a = append(a, d)
		}
	}
	return a
}

// dead says why a link leads nowhere.
func (l layers) dead(i int) string {
	if why := l.addressable(i); why != "" {
		return why
	}
	link := &l.stack.Links[i]
	below := []string{}
	switch link.Kind {
	case Ethernet, Veth:
		p := l.member.ports[link.Name]
		switch {
		case p == nil:
			return link.Name + " is plugged in nowhere"
		case p.cut:
			return "the cable of " + link.Name + " is cut"
		case p.on.down:
			return fmt.Sprintf("switch %s of %s is off", p.on.name, link.Name)
		}
		return fmt.Sprintf("switch %s does not take the frames of %s", p.on.name, link.Name)
	case VLAN, MACVLAN, IPVLAN:
		below = append(below, link.Base)
	case Bond, Bridge:
		for _, p := range l.ports(link.Name) {
			below = append(below, l.stack.Links[p].Name)
		}
	case OVSInterface:
		below = append(below, link.Controller)
	default:
		return fmt.Sprintf("%s, a %s, leads nowhere", link.Name, link.Kind)
	}
	if len(below) == 0 {
		return link.Name + " has no port"
	}
	return link.Name + " finds no way out through " + strings.Join(below, ", ")
}

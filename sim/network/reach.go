package network

import (
	"fmt"
	"net/netip"
	"slices"
)

// Cut says why packets do not arrive, or their answers do not.
type Cut struct {
	// Why, in one line.
	Why string
	// Said is what the sender's kernel says at once: Unreachable and NoHost;
	// empty where nothing comes back.
	Said string
}

// What a kernel says of a target.
const (
	// Unreachable: there is no route.
	Unreachable = "network is unreachable"
	// NoHost: a router on the way says so.
	NoHost = "no route to host"
)

func (c *Cut) Error() string { return c.Why }

// answer is what was found about a target, and on what it depends.
type answer struct {
	there, back *Cut
	at          *member // where packets arrive
	based       []dependence
}

// dependence is a revision that was looked at.
type dependence struct {
	revision *uint64
	was      uint64
}

func (a *answer) holds() bool {
	for _, d := range a.based {
		if *d.revision != d.was {
			return false
		}
	}
	return true
}

func (n *Network) depend(revision *uint64) {
	n.asked = append(n.asked, dependence{revision, *revision})
}

// Reaches tells whether packets of a station arrive at an address and the answers
// come back; the error is a *Cut. It costs next to nothing while nothing changed.
func (n *Network) Reaches(s Station, target netip.Addr) error {
	if cut := n.ask(n.member(s), target).cut(); cut != nil {
		return cut
	}
	return nil
}

func (a *answer) cut() *Cut {
	if a.there != nil {
		return a.there
	}
	return a.back
}

func (n *Network) ask(m *member, target netip.Addr) *answer {
	n.refresh()
	a := m.answers[target]
	if a != nil && a.holds() {
		return a
	}
	if a == nil {
		a = &answer{}
		if m.answers == nil {
			m.answers = map[netip.Addr]*answer{}
		}
		m.answers[target] = a
	}
	n.asked = n.asked[:0]
	n.depend(&n.revision)
	a.at, a.there, a.back = n.roundTrip(m, target)
	a.based = append(a.based[:0], n.asked...)
	return a
}

// roundTrip sends a packet there, and one back.
func (n *Network) roundTrip(m *member, target netip.Addr) (at *member, outward, homeward *Cut) {
	if target.Zone() != "" {
		at, outward = n.neighbour(m, target)
		return at, outward, nil
	}
	there := &packet{from: m, to: target, table: Main}
	at, outward = n.send(there)
	if outward != nil || at == m {
		return at, outward, nil
	}
	back := &packet{from: at, to: there.source, source: target, table: there.arrived}
	home, homeward := n.send(back)
	switch {
	case homeward != nil:
		homeward = &Cut{Why: "the way back: " + homeward.Why}
	case home != m:
		homeward = &Cut{Why: fmt.Sprintf("the way back leads to %s, which has %s too", home.name(), there.source)}
	default:
		homeward = n.lost(at.name(), m.name())
	}
	return at, n.lost(m.name(), at.name()), homeward
}

// packet on its way.
type packet struct {
	from *member
	to   netip.Addr
	// source is chosen by the first route where it is not given.
	source netip.Addr
	// table of the sender that is asked; arrived is the one in which the
	// receiver has the address.
	table, arrived int
}

// maxHops is more than any network here has.
const maxHops = 8

// send follows a packet to who has its address.
func (n *Network) send(p *packet) (*member, *Cut) {
	m, table := p.from, p.table
	for hops := range maxHops {
		n.depend(&m.revision)
		if i := m.view.has(p.to); i >= 0 && (hops > 0 || m.view.local[i].table == table) {
			p.arrived = m.view.local[i].table
			if !p.source.IsValid() {
				p.source = p.to
			}
			return m, nil
		}
		if hops > 0 {
			if cut := n.forwards(m, p); cut != nil {
				return nil, cut
			}
		}
		r, next, cut := m.leave(p, table, hops)
		if cut == nil {
			m, cut = n.resolve(m, r.link, next)
		}
		if cut != nil {
			return nil, cut
		}
		table = Main
	}
	return nil, &Cut{Why: fmt.Sprintf("packets to %s go round in circles", p.to)}
}

// forwards tells whether a station takes a packet that is for somebody else.
func (n *Network) forwards(m *member, p *packet) *Cut {
	if n.blocked[pair{p.from.name(), m.name()}] || n.blocked[pair{Everybody, m.name()}] {
		return &Cut{Why: fmt.Sprintf("what %s sends through %s is lost on the way", p.from.name(), m.name())}
	}
	if !m.view.stack.Forwards {
		return &Cut{Why: fmt.Sprintf("%s does not forward to %s", m.name(), p.to)}
	}
	return nil
}

// leave finds the route and the next hop, and what the packet is sent from.
func (m *member) leave(p *packet, table, hops int) (r hop, next netip.Addr, cut *Cut) {
	r, found := m.view.ruled(table, p.source, p.to)
	if !found || r.Rejects {
		said := Unreachable
		if hops > 0 {
			said = NoHost
		}
		return r, next, &Cut{Why: fmt.Sprintf("%s has no route to %s", m.name(), p.to), Said: said}
	}
	next = p.to
	if r.Gateway.IsValid() {
		next = r.Gateway
	}
	if !p.source.IsValid() {
		p.source = m.view.source(r, p.to, next)
	}
	if !p.source.IsValid() {
		return r, next, &Cut{Why: fmt.Sprintf("%s of %s has no address to send from", r.Link, m.name()), Said: Unreachable}
	}
	return r, next, nil
}

// resolve asks in a link's domains who has an address.
func (n *Network) resolve(m *member, link int, next netip.Addr) (*member, *Cut) {
	wires := m.view.wires[link]
	if len(wires) == 0 {
		return nil, &Cut{Why: fmt.Sprintf("%s: %s", m.name(), layers{m, m.view.stack}.dead(link))}
	}
	s := n.slot(next)
	n.depend(&s.revision)
	var found *member
	for _, owner := range s.owners {
		if owner == m {
			continue
		}
		n.depend(&owner.revision)
		if !owner.answersIn(wires, next) {
			continue
		}
		if found != nil {
			return nil, &Cut{Why: fmt.Sprintf("%s and %s both have %s", found.name(), owner.name(), next)}
		}
		found = owner
	}
	if found == nil {
		return nil, &Cut{Why: fmt.Sprintf("nobody in %s answers %s for %s", wires[0], m.name(), next)}
	}
	return found, nil
}

// answersIn tells whether a station answers for its address in one of the
// domains. Linux answers for an IPv4 address on every link, for an IPv6 address
// on its own only.
func (m *member) answersIn(wires []domain, a netip.Addr) bool {
	for link, own := range m.view.wires {
		if a.Is6() && !m.view.hasOn(link, a) {
			continue
		}
		if slices.ContainsFunc(own, func(d domain) bool { return slices.Contains(wires, d) }) {
			return true
		}
	}
	return false
}

// neighbour reaches a link-local address, whose zone names the sender's link.
func (n *Network) neighbour(m *member, target netip.Addr) (*member, *Cut) {
	n.depend(&m.revision)
	link := m.view.stack.link(target.Zone())
	if link < 0 {
		return nil, &Cut{Why: fmt.Sprintf("%s has no link %s", m.name(), target.Zone()), Said: Unreachable}
	}
	if m.view.source(hop{link: link}, target, target).IsValid() {
		return n.resolve(m, link, target.WithZone(""))
	}
	return nil, &Cut{Why: fmt.Sprintf("%s of %s has no address to send from", target.Zone(), m.name()), Said: Unreachable}
}

// has finds a local address; -1 for none.
func (v *view) has(a netip.Addr) int {
	for i := range v.local {
		if v.local[i].address == a {
			return i
		}
	}
	return -1
}

func (v *view) hasOn(link int, a netip.Addr) bool {
	return slices.ContainsFunc(v.local, func(l local) bool { return l.link == link && l.address == a })
}

// ruled finds a route by the rules, in the order of their priorities; in a VRF there
// are none.
func (v *view) ruled(table int, from, to netip.Addr) (hop, bool) {
	if table == Main {
		for _, r := range v.rules {
			if !r.matches(from, to) {
				continue
			}
			if r.Rejects {
				return hop{}, false
			}
			if found, is := v.route(r.Table, to); is {
				return found, true
			}
		}
	}
	return v.route(table, to)
}

// route finds the longest prefix, then the lowest metric, then the first.
func (v *view) route(table int, to netip.Addr) (hop, bool) {
	best := -1
	for i := range v.routes {
		r := &v.routes[i]
		if r.table() != table || !r.Destination.Contains(to) {
			continue
		}
		if best >= 0 {
			b := &v.routes[best]
			if r.Destination.Bits() < b.Destination.Bits() || r.Destination.Bits() == b.Destination.Bits() && r.Metric >= b.Metric {
				continue
			}
		}
		best = i
	}
	if best < 0 {
		return hop{}, false
	}
	return v.routes[best], true
}

// source is the address that the kernel sends from: what the route prefers, one
// in the network of the next hop, the link's first, any.
func (v *view) source(r hop, to, next netip.Addr) netip.Addr {
	if r.Source.IsValid() {
		return r.Source
	}
	var first, other netip.Addr
	for _, l := range v.local {
		a := l.address
		if a.Is4() != to.Is4() || a.Is6() && a.IsLinkLocalUnicast() != to.IsLinkLocalUnicast() || a.IsLoopback() {
			continue
		}
		if l.link != r.link {
			if !other.IsValid() && l.table == Main && !a.IsLinkLocalUnicast() {
				other = a
			}
			continue
		}
		if !first.IsValid() {
			first = a
		}
		for _, own := range v.stack.Links[l.link].Addresses {
			if own.Prefix.Addr() == a && own.Prefix.Contains(next) {
				return a
			}
		}
	}
	if !first.IsValid() {
		return other
	}
	return first
}

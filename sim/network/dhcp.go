package network

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"
)

// Lease is what a DHCP server grants.
type Lease struct {
	Address netip.Prefix
	// Gateway is not valid where none is announced.
	Gateway     netip.Addr
	NameServers []netip.Addr
	// For is how long it may be used.
	For time.Duration
}

// DHCPServer answers in a VLAN of a switch.
type DHCPServer struct {
	// VLAN that it is in; 0 is what has no tag.
	VLAN uint16
	// From and To are the first and last address that it grants.
	From, To netip.Addr
	// Offer holds what is the same in every lease, and the prefix's length.
	Offer Lease
	// Least and Most are how long an exchange takes. They may be set at any time.
	Least, Most time.Duration

	gone   bool
	on     *Switch
	rand   *rand.Rand
	leases map[string]netip.Addr // by MAC
	taken  map[netip.Addr]bool
}

// How long a lease takes with dnsmasq in the lab, and how long it is valid there.
const (
	leastDHCP = 20 * time.Millisecond
	mostDHCP  = 200 * time.Millisecond
	leaseTime = time.Hour
)

// discoverAgain is the longest time between two questions of a client that nobody
// answered, in its first minutes (RFC 2131, section 4.1).
const discoverAgain = 16 * time.Second

// AddDHCP puts a DHCP server into the switch.
func (s *Switch) AddDHCP(from, to netip.Addr, offer Lease) *DHCPServer {
	if offer.For == 0 {
		offer.For = leaseTime
	}
	d := &DHCPServer{
		From: from, To: to, Offer: offer, Least: leastDHCP, Most: mostDHCP, on: s,
		rand: s.network.world.Rand(fmt.Sprintf("dhcp %s %d", s.name, len(s.dhcp))), leases: map[string]netip.Addr{}, taken: map[netip.Addr]bool{},
	}
	s.dhcp = append(s.dhcp, d)
	return d
}

// DHCP servers of the switch.
func (s *Switch) DHCP() []*DHCPServer { return s.dhcp }

// Forget drops all leases: who asks again may get another address.
func (d *DHCPServer) Forget() {
	clear(d.leases)
	clear(d.taken)
}

// SetGone has it answer nobody, or be back; then its clients ask again, each when
// it would have done so anyway.
func (d *DHCPServer) SetGone(gone bool) {
	was := d.gone
	d.gone = gone
	if was && !gone {
		d.on.askAgain(d.rand)
	}
}

func (s *Switch) askAgain(r *rand.Rand) {
	told := map[*member]bool{}
	for _, p := range s.ports {
		if m := p.owner; !told[m] {
			told[m] = true
			s.network.world.After(between(r, 0, discoverAgain), func() {
				if s.network.members[m.name()] == m {
					m.station.AskAgain()
				}
			})
		}
	}
}

// Discover asks for a lease for a link, or for a longer life of the one that it
// has, and tells how long that takes; false: nobody answers. Asking again is the
// client's, at the latest when it is told to AskAgain.
func (n *Network) Discover(s Station, link string) (Lease, time.Duration, bool) {
	m := n.member(s)
	for _, d := range n.domains(m, link) {
		for _, server := range d.on.dhcp {
			if server.gone || server.VLAN != d.vlan {
				continue
			}
			if address, found := server.lease(m.view.stack.Links[m.view.stack.link(link)].MAC); found {
				lease := server.Offer
				lease.Address = netip.PrefixFrom(address, server.Offer.Address.Bits())
				return lease, between(server.rand, server.Least, server.Most), true
			}
		}
	}
	return Lease{}, 0, false
}

func between(r *rand.Rand, least, most time.Duration) time.Duration {
	if most <= least {
		return least
	}
	return least + time.Duration(r.Int64N(int64(most-least)))
}

// lease finds the client's address, or a free one.
func (d *DHCPServer) lease(mac string) (netip.Addr, bool) {
	if a, has := d.leases[mac]; has {
		return a, true
	}
	for a := d.From; a.IsValid() && !d.To.Less(a); a = a.Next() {
		if !d.taken[a] {
			d.leases[mac], d.taken[a] = a, true
			return a, true
		}
	}
	return netip.Addr{}, false
}

// domains that a link leads to now.
func (n *Network) domains(m *member, link string) []domain {
	n.refresh()
	i := m.view.stack.link(link)
	if i < 0 {
		return nil
	}
	return m.view.wires[i]
}

// Advertisement is what a router announces to everybody in a switch.
type Advertisement struct {
	// VLAN that it is in; 0 is what has no tag.
	VLAN uint16
	// Prefix from which addresses are made.
	Prefix netip.Prefix
	// Router is link-local.
	Router netip.Addr
	// NameServers that it tells of (RFC 8106).
	NameServers []netip.Addr
	For         time.Duration
}

// SetAdvertisement has the switch's router announce itself; nil ends it.
func (s *Switch) SetAdvertisement(a *Advertisement) { s.ra = a }

// Solicit asks for a router's advertisement.
func (n *Network) Solicit(s Station, link string) (Advertisement, bool) {
	for _, d := range n.domains(n.member(s), link) {
		if d.on.ra != nil && d.on.ra.VLAN == d.vlan {
			return *d.on.ra, true
		}
	}
	return Advertisement{}, false
}

// Claimed tells who else has an address where a link leads to; empty for nobody. It is
// what duplicate address detection asks.
func (n *Network) Claimed(s Station, link string, address netip.Addr) string {
	m := n.member(s)
	wires := n.domains(m, link)
	for _, owner := range n.slot(address).owners {
		if owner != m && owner.answersIn(wires, address) {
			return owner.name()
		}
	}
	return ""
}

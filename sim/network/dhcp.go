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

// DHCPServer answers in a switch's untagged domain. Its fields may be set at any time.
type DHCPServer struct {
	// From and To are the first and last address that it grants.
	From, To netip.Addr
	// Offer holds what is the same in every lease, and the prefix's length.
	Offer Lease
	// Least and Most are how long an exchange takes.
	Least, Most time.Duration
	// Gone: it answers nobody.
	Gone bool

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

// Discover asks for a lease, or for a longer life of the one that there is. answer is called
// by the world once the first server answers, and never when none does: asking
// again is the client's.
func (n *Network) Discover(s Station, link string, answer func(Lease)) {
	m := n.member(s)
	for _, d := range n.domains(m, link) {
		if d.vlan != 0 {
			continue
		}
		for _, server := range d.on.dhcp {
			n.world.After(server.takes(), func() { n.grant(server, m, link, answer) })
			return
		}
	}
}

func (d *DHCPServer) takes() time.Duration {
	if d.Most <= d.Least {
		return d.Least
	}
	return d.Least + time.Duration(d.rand.Int64N(int64(d.Most-d.Least)))
}

// grant answers, if the server is there still and the client can hear it.
func (n *Network) grant(server *DHCPServer, m *member, link string, answer func(Lease)) {
	if server.Gone || n.members[m.name()] != m {
		return
	}
	for _, d := range n.domains(m, link) {
		if d.on != server.on || d.vlan != 0 {
			continue
		}
		i := m.view.stack.link(link)
		if address, found := server.lease(m.view.stack.Links[i].MAC); found {
			lease := server.Offer
			lease.Address = netip.PrefixFrom(address, server.Offer.Address.Bits())
			answer(lease)
		}
		return
	}
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
	// Prefix from which addresses are made.
	Prefix netip.Prefix
	// Router is link-local.
	Router netip.Addr
	For    time.Duration
}

// SetAdvertisement has the switch's router announce itself; nil ends it.
func (s *Switch) SetAdvertisement(a *Advertisement) { s.ra = a }

// Solicit asks for a router's advertisement.
func (n *Network) Solicit(s Station, link string) (Advertisement, bool) {
	for _, d := range n.domains(n.member(s), link) {
		if d.vlan == 0 && d.on.ra != nil {
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

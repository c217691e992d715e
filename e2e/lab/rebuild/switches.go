package rebuild

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// site is what all nodes together say of the networks around them.
type site struct {
	nodes []*node
	// used are addresses that nodes have.
	used map[netip.Addr]bool
	// hops are next hops, those of default routes first, and servers name servers.
	hops, servers []netip.Addr
	leases        []netip.Addr
	announced     []netip.Prefix
	names         map[string]bool
	spare         int
}

func survey(nodes []*node) *site {
	s := &site{nodes: nodes, used: map[netip.Addr]bool{}, names: map[string]bool{}}
	var others []netip.Addr
	for _, n := range nodes {
		for _, one := range n.kept.state.Interfaces() {
			for _, p := range n.addresses(one) {
				s.used[p.Addr()] = true
			}
			for _, lease := range n.kept.leases[one.Name] {
				p, err := netip.ParsePrefix(lease)
				switch {
				case err != nil:
				case p.Addr().Is4():
					s.leases = append(s.leases, p.Addr())
				default:
					s.announced = append(s.announced, p.Masked())
				}
			}
		}
		for _, route := range slices.Concat(n.kept.state.Routes(), n.kept.state.RunningRoutes()) {
			hop, err := netip.ParseAddr(route.NextHopAddress)
			switch {
			case err != nil || hop.IsUnspecified() || hop.IsLinkLocalUnicast():
			case route.IsDefault():
				s.hops = append(s.hops, hop)
			default:
				others = append(others, hop)
			}
		}
		s.servers = append(s.servers, n.servers...)
	}
	s.hops = append(s.hops, others...)
	return s
}

// switches are those of a segment: the segment itself, then its VLANs.
func (s *site) switches(g *segment) []lab.SwitchSpec {
	all := []lab.SwitchSpec{s.offers(lab.SwitchSpec{Name: s.name(g.ports[0].nic, ""), LACP: g.lacp}, g.networks[0])}
	for _, id := range slices.Sorted(maps.Keys(g.networks)) {
		if id != 0 {
			spec := lab.SwitchSpec{Name: s.name(all[0].Name, fmt.Sprint("-", id)), Over: all[0].Name, VLAN: int(id)}
			all = append(all, s.offers(spec, g.networks[id]))
		}
	}
	return all
}

// longestName is what a lab lets a switch be called.
const longestName = 12

// name is a name that no other switch has, in the letters that a lab takes.
func (s *site) name(from, end string) string {
	from = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(from), "-"), "-")
	for i := 1; ; i++ {
		tail := end
		if i > 1 {
			tail = fmt.Sprint(end, "-", i)
		}
		name := strings.TrimRight(from[:min(len(from), longestName-len(tail))], "-") + tail
		if !s.names[name] {
			s.names[name] = true
			return name
		}
	}
}

// offers gives a switch its gateway and what is behind it.
func (s *site) offers(spec lab.SwitchSpec, networks []netip.Prefix) lab.SwitchSpec {
	gateway := s.gateway(networks, true)
	if !gateway.IsValid() { // A switch has one; nobody there looks for it.
		gateway = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(s.spare), 1}), 24)
		s.spare++
	}
	spec.Gateway = gateway.String()
	s.used[gateway.Addr()] = true
	if six := s.gateway(networks, false); six.IsValid() {
		spec.Gateway6, spec.RA = six.String(), slices.Contains(s.announced, six.Masked())
		s.used[six.Addr()] = true
	}
	var leased []netip.Addr
	for _, a := range s.leases {
		if gateway.Contains(a) {
			leased = append(leased, a)
		}
	}
	if len(leased) > 0 {
		spec.DHCP = &lab.DHCPSpec{From: slices.MinFunc(leased, netip.Addr.Compare).String(), To: slices.MaxFunc(leased, netip.Addr.Compare).String()}
	}
	for _, a := range slices.Concat(s.hops, s.servers) {
		if gateway.Contains(a) && !s.used[a] {
			s.used[a] = true
			spec.Peers = append(spec.Peers, lab.PeerSpec{Name: "peer-" + strings.ReplaceAll(a.String(), ".", "-"), Address: a.String()})
		}
		spec.DNS = spec.DNS || gateway.Contains(a) && slices.Contains(s.servers, a)
	}
	return spec
}

// gateway is that of a switch: where the nodes' routes lead, or a free address.
func (s *site) gateway(networks []netip.Prefix, four bool) netip.Prefix {
	of := slices.DeleteFunc(slices.Clone(networks), func(p netip.Prefix) bool { return p.Addr().Is4() != four })
	for _, hop := range slices.Concat(s.hops, s.servers) {
		for _, network := range of {
			if network.Contains(hop) && !s.used[hop] {
				return netip.PrefixFrom(hop, network.Bits())
			}
		}
	}
	slices.SortStableFunc(of, func(a, b netip.Prefix) int { return s.leasedIn(b) - s.leasedIn(a) })
	for _, network := range of {
		a := network.Addr().Next()
		for s.used[a] || slices.Contains(s.hops, a) {
			a = a.Next()
		}
		if network.Contains(a) && (!four || network.Contains(a.Next())) { // The last one is for broadcasts.
			return netip.PrefixFrom(a, network.Bits())
		}
	}
	return netip.Prefix{}
}

// leasedIn counts leases and announced networks.
func (s *site) leasedIn(network netip.Prefix) int {
	count := 0
	for _, a := range s.leases {
		if network.Contains(a) {
			count++
		}
	}
	for _, p := range s.announced {
		if p == network {
			count++
		}
	}
	return count
}

package network_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// station is a host that a test drives.
type station struct {
	name    string
	stack   *network.Stack
	changed []func()
	carrier map[string]bool
	asked   int
}

func (s *station) Name() string                   { return s.name }
func (s *station) Stack() *network.Stack          { return s.stack }
func (s *station) OnChange(f func())              { s.changed = append(s.changed, f) }
func (s *station) SetCarrier(nic string, up bool) { s.carrier[nic] = up }
func (s *station) AskAgain()                      { s.asked++ }

// edit changes a copy of the stack.
func (s *station) edit(by func(k *network.Stack)) {
	next := *s.stack
	next.Links, next.Routes, next.NameServers = slices.Clone(next.Links), slices.Clone(next.Routes), slices.Clone(next.NameServers)
	by(&next)
	s.stack = &next
	for _, f := range s.changed {
		f()
	}
}

// link changes one link.
func (s *station) link(t testing.TB, name string, by func(l *network.Link)) {
	t.Helper()
	s.edit(func(k *network.Stack) {
		for i := range k.Links {
			if k.Links[i].Name == name {
				k.Links[i].Addresses = slices.Clone(k.Links[i].Addresses)
				by(&k.Links[i])
				return
			}
		}
		t.Fatalf("%s has no link %s", s.name, name)
	})
}

// installed is the station of a node as its installer left it.
func installed(node network.Node) *station {
	s := &station{name: node.Name, carrier: map[string]bool{}, stack: &network.Stack{}}
	for _, nic := range node.NICs {
		link := network.Link{Name: nic.Name, Kind: network.Ethernet, MAC: nic.MAC, Up: true, Carrier: true, MTU: 1500}
		for _, a := range []netip.Prefix{nic.Address, nic.Address6} {
			if a.IsValid() {
				link.Addresses = append(link.Addresses, network.Address{Prefix: a, Metric: 100})
			}
		}
		for _, g := range []netip.Addr{nic.Gateway, nic.Gateway6} {
			if g.IsValid() {
				s.stack.Routes = append(s.stack.Routes, defaultVia(g, nic.Name))
			}
		}
		if nic.NameServer.IsValid() {
			s.stack.NameServers = append(s.stack.NameServers, nic.NameServer)
		}
		s.stack.Links = append(s.stack.Links, link)
	}
	return s
}

func defaultVia(gateway netip.Addr, link string) network.Route {
	everything := netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if gateway.Is6() {
		everything = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	return network.Route{Destination: everything, Gateway: gateway, Link: link, Metric: 100}
}

var (
	addr   = netip.MustParseAddr
	prefix = netip.MustParsePrefix
)

// fleet builds a cluster with stations for all of its nodes.
func fleet(w *world.World, t network.Topology) (*network.Cluster, []*station) {
	c := network.Build(w, t)
	var stations []*station
	for _, node := range c.Nodes {
		s := installed(node)
		c.Hook(node, s)
		stations = append(stations, s)
	}
	return c, stations
}

func why(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEverybodyReachesEverybodyInTheDefaultTopology(t *testing.T) {
	topology := network.Nodes(203, 2)
	topology.API = addr("198.51.100.10")
	c, stations := fleet(world.New(1), topology)
	for _, from := range []*station{stations[0], stations[1], stations[199], stations[202]} {
		for _, to := range []string{
			"192.0.2.1", "192.0.2.11", "192.0.2.210", "198.18.1.13", "198.18.1.1", "2001:db8::1", "2001:db8:1::13", "198.51.100.10", "fe80::1%eth0",
		} {
			target := addr(to)
			if target.Zone() != "" && len(from.stack.Links[0].Addresses) < 3 {
				from.link(t, "eth0", func(l *network.Link) {
					l.Addresses = append(l.Addresses, network.Address{Prefix: prefix("fe80::" + fmt.Sprint(len(from.name)) + "0/64")})
				})
			}
			if err := c.Reaches(from, target); err != nil {
				t.Errorf("%s to %s: %v", from.name, to, err)
			}
		}
	}
}

// change is one thing that is done to a network that works, from node1's view.
type change func(t *testing.T, c *network.Cluster, node1, node2 *station)

func onLink(name string, by func(l *network.Link)) change {
	return func(t *testing.T, _ *network.Cluster, node1, _ *station) { node1.link(t, name, by) }
}

func address(text string) change {
	return onLink("eth0", func(l *network.Link) { l.Addresses[0].Prefix = prefix(text) })
}

// over moves node1's addresses and routes from eth0 to a link on top of it.
func over(link network.Link, port func(l *network.Link)) change {
	return func(t *testing.T, _ *network.Cluster, node1, _ *station) {
		node1.link(t, "eth0", func(l *network.Link) {
			link.Addresses, l.Addresses = l.Addresses, nil
			link.Up, link.Carrier = true, true
			port(l)
		})
		node1.edit(func(k *network.Stack) {
			k.Links = append(k.Links, link)
			for i := range k.Routes {
				k.Routes[i].Link = link.Name
			}
		})
	}
}

func all(changes ...change) change {
	return func(t *testing.T, c *network.Cluster, node1, node2 *station) {
		for _, one := range changes {
			one(t, c, node1, node2)
		}
	}
}

func trunk(untagged uint16, from, to uint16) *network.PortVLAN {
	return &network.PortVLAN{Untagged: untagged, Tagged: []network.Range{{From: from, To: to}}}
}

// TestAGatewayIsReachedOrTheReasonSaysWhyNot has what is done to node1, and why
// 198.51.100.10, behind the gateway, is out of reach then; empty for not.
func TestAGatewayIsReachedOrTheReasonSaysWhyNot(t *testing.T) {
	port := func(l *network.Link) { l.Controller = "top" }
	untouched := func(*network.Link) {}
	tests := map[string]struct {
		change change
		want   string
	}{
		"nothing happens":                      {all(), ""},
		"the NIC is down":                      {onLink("eth0", func(l *network.Link) { l.Up = false }), "node1 has no route to 198.51.100.10"},
		"the NIC has no carrier by its driver": {onLink("eth0", func(l *network.Link) { l.Carrier = false }), "node1: eth0 has no carrier"},
		"the cable is cut":                     {func(_ *testing.T, c *network.Cluster, n, _ *station) { c.SetCable(n, "eth0", false) }, "node1: the cable of eth0 is cut"},
		"the NIC is unplugged":                 {func(_ *testing.T, c *network.Cluster, n, _ *station) { c.Unplug(n, "eth0") }, "node1: eth0 is plugged in nowhere"},
		"the NIC is in another switch": {func(_ *testing.T, c *network.Cluster, n, _ *station) { c.Plug(n, "eth0", c.AddSwitch("other")) },
			"nobody in switch other answers node1 for 192.0.2.1"},
		"the switch is off": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Switch("lan").SetPower(false) }, "node1: switch lan of eth0 is off"},
		"the gateway is off": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Gateway.SetPower(false) },
			"nobody in switch lan answers node1 for 192.0.2.1"},
		"the gateway forwards nothing": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Gateway.SetForwarding(false) },
			"gateway does not forward to 198.51.100.10"},
		"the target is off": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Machine("api").SetPower(false) },
			"nobody in switch upstream answers gateway for 198.51.100.10"},
		"there is no default route": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) { k.Routes = nil })
		},
			"node1 has no route to 198.51.100.10"},
		"the default route leads to somebody who is not there": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) { k.Routes[0].Gateway = addr("192.0.2.99") })
		}, "nobody in switch lan answers node1 for 192.0.2.99"},
		"the default route leads to somebody who is no router": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) { k.Routes[0].Gateway = addr("192.0.2.12") })
		}, "node2 does not forward to 198.51.100.10"},
		"a better default route leads nowhere": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				worse := defaultVia(addr("192.0.2.98"), "eth1")
				worse.Metric = 50
				k.Routes = append(k.Routes, worse)
			})
		}, "nobody in switch side answers node1 for 192.0.2.98"},
		"a worse default route leads nowhere": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				worse := defaultVia(addr("192.0.2.98"), "eth1")
				worse.Metric = 500
				k.Routes = append(k.Routes, worse)
			})
		}, ""},
		"a longer prefix is rejected": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				k.Routes = append(k.Routes, network.Route{Destination: prefix("198.51.100.0/24"), Rejects: true, Metric: 1000})
			})
		}, "node1 has no route to 198.51.100.10"},
		"a route in another table does not count": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				k.Routes = append(k.Routes, network.Route{Destination: prefix("198.51.100.0/24"), Rejects: true, Table: 100})
			})
		}, ""},
		"the address is another one of the network":                               {address("192.0.2.77/24"), ""},
		"the address is of another network":                                       {address("203.0.113.77/24"), "the way back: gateway has no route to 203.0.113.77"},
		"the prefix is too short, so the target seems to be on the link":          {address("192.0.2.11/4"), "nobody in switch lan answers node1 for 198.51.100.10"},
		"the prefix is too long, and the route leads to the gateway all the same": {address("192.0.2.11/30"), ""},
		"the address is another node's":                                           {address("192.0.2.12/24"), "the way back: node2 and node1 both have 192.0.2.12"},
		"the address is the gateway's":                                            {address("192.0.2.1/24"), "the way back leads to gateway, which has 192.0.2.1 too"},
		"the address may be a duplicate still": {onLink("eth0", func(l *network.Link) { l.Addresses[0].Tentative = true }),
			"eth0 of node1 has no address to send from"},
		"another NIC of the switch answers, but the route leads to a dead cable": {func(_ *testing.T, c *network.Cluster, n, _ *station) { c.SetCable(n, "eth0", false) },
			"node1: the cable of eth0 is cut"},

		"a bridge takes over":               {over(network.Link{Name: "top", Kind: network.Bridge}, port), ""},
		"a bridge has no port":              {over(network.Link{Name: "top", Kind: network.Bridge}, untouched), "node1: top has no port"},
		"a bridge's port keeps the address": {onLink("eth0", func(l *network.Link) { l.Controller = "top" }), ""},
		"a bond takes over":                 {over(network.Link{Name: "top", Kind: network.Bond}, port), ""},
		"a bond's only port is down": {over(network.Link{Name: "top", Kind: network.Bond}, func(l *network.Link) { port(l); l.Up = false }),
			"node1: top finds no way out through eth0"},
		"a bond has another port when one is cut": {all(over(network.Link{Name: "top", Kind: network.Bond, Backup: true, Primary: "eth0"}, port),
			onLink("eth1", port), func(_ *testing.T, c *network.Cluster, n, _ *station) {
				c.Plug(n, "eth1", c.Switch(network.LAN))
				c.SetCable(n, "eth0", false)
			}), ""},
		"the gateway is blocked, and so what is behind it": {func(_ *testing.T, c *network.Cluster, _, _ *station) {
			c.Block("node1", "gateway", true)
		},
			"what node1 sends through gateway is lost on the way"},
		"a block is lifted": {all(block("node1", "gateway", true), block("node1", "gateway", false)), ""},
		"a bond prefers a port that leads to the wrong switch": {all(over(network.Link{Name: "top", Kind: network.Bond, Backup: true, Primary: "eth1"}, port),
			onLink("eth1", port), func(_ *testing.T, c *network.Cluster, n, _ *station) { c.Plug(n, "eth1", c.AddSwitch("other")) }),
			"nobody in switch other answers node1 for 192.0.2.1"},
		"a VLAN of which the switch knows nothing": {over(network.Link{Name: "top", Kind: network.VLAN, Base: "eth0", Tag: 5}, untouched),
			"nobody in VLAN 5 of switch lan answers node1 for 192.0.2.1"},
		"a VLAN that is native at the gateway's port": {all(over(network.Link{Name: "top", Kind: network.VLAN, Base: "eth0", Tag: 5}, untouched),
			func(_ *testing.T, c *network.Cluster, n, _ *station) {
				c.SetPortVLAN(n, "eth0", trunk(1, 2, 9))
				c.SetPortVLAN(c.Gateway, "nic1", trunk(5, 2, 4))
			}), ""},
		"a VLAN that the switch does not take": {all(over(network.Link{Name: "top", Kind: network.VLAN, Base: "eth0", Tag: 5}, untouched),
			func(_ *testing.T, c *network.Cluster, n, _ *station) { c.SetPortVLAN(n, "eth0", trunk(1, 6, 9)) }),
			"node1: top finds no way out through eth0"},
		"a bridge that filters, and nobody configured its port": {over(network.Link{Name: "top", Kind: network.Bridge, Filters: true}, port), ""},
		"a bridge whose port is in another VLAN than the bridge itself": {over(network.Link{Name: "top", Kind: network.Bridge, Filters: true},
			func(l *network.Link) { port(l); l.Port = &network.PortVLAN{Untagged: 5} }), "node1: top finds no way out through eth0"},
		"a VRF takes it away from the main table": {func(t *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				k.Links = append(k.Links, network.Link{Name: "vrf1", Kind: network.VRF, Up: true, Carrier: true, Table: 100})
				for i := range k.Routes {
					k.Routes[i].Table = 100
				}
			})
			n.link(t, "eth0", func(l *network.Link) { l.Controller = "vrf1" })
		}, "node1 has no route to 198.51.100.10"},
		"a dummy": {over(network.Link{Name: "top", Kind: "dummy"}, untouched), "node1: top, a dummy, leads nowhere"},

		"a rule rejects": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				k.Rules = []network.Rule{{Priority: 5, To: prefix("198.51.100.0/24"), Table: network.Main, Rejects: true}}
			})
		}, "node1 has no route to 198.51.100.10"},
		"a rule rejects what comes after the main table": {func(_ *testing.T, _ *network.Cluster, n, _ *station) {
			n.edit(func(k *network.Stack) {
				k.Rules = []network.Rule{{Priority: 32767, Table: network.Main, Rejects: true}}
			})
		}, ""},
		"one way is blocked": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Block("node1", "api", true) },
			"what node1 sends to api is lost on the way"},
		"the other way is blocked": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Block("api", network.Everybody, true) },
			"what api sends to node1 is lost on the way"},
		"another one is blocked": {func(_ *testing.T, c *network.Cluster, _, _ *station) { c.Block("api", "node2", true) }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			topology := network.Nodes(2, 1)
			topology.API = addr("198.51.100.10")
			c, stations := fleet(world.New(1), topology)
			if err := c.Reaches(stations[0], topology.API); err != nil { // So that an answer is remembered.
				t.Fatal(err)
			}
			test.change(t, c, stations[0], stations[1])
			if got := why(c.Reaches(stations[0], topology.API)); got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

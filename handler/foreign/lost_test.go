package foreign

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mtuOfEth1   = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400}]}`
	ipv4OfEth1  = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true}}]}`
	eth1InBr2   = `{"interfaces":[{"name":"br2","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`
	portsOfBr1  = `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[]}}]}`
	mtuOfBr1    = `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1400}]}`
	br1Absent   = `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"}]}`
	eth1Down    = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"down"}]}`
	routeOfEth1 = `{"routes":{"config":[{"destination":"10.244.1.0/24","next-hop-interface":"eth1","next-hop-address":"203.0.113.9"}]}}`
	noneOfEth1  = `{"routes":{"config":[{"state":"absent","next-hop-interface":"eth1"}]}}`
	byMAC       = `{"interfaces":[{"name":"wan","type":"ethernet","state":"up","identifier":"mac-address","mac-address":"02:00:00:00:00:03","ipv4":{"enabled":true}}]}`
)

type lostCase struct {
	change string
	back   bool
	before func(*node) *node
	after  func(*node) *node
	lost   []string
}

func (c lostCase) run(t *testing.T) {
	named := NamedBy(document(t, c.change))
	if c.back {
		named = named.Back()
	}
	before, after := aNode(t), aNode(t)
	if c.before != nil {
		before = c.before(before)
	}
	if c.after != nil {
		after = c.after(after)
	}
	var got []string
	for _, loss := range Lost(before.Snapshot, after.Snapshot, named) {
		line := loss.String()
		if loss.Managed {
			line += " (managed)"
		}
		if loss.Slight {
			line += " (slight)"
		}
		got = append(got, line)
	}
	if diff := cmp.Diff(c.lost, got); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

func TestLostAddresses(t *testing.T) {
	for name, c := range map[string]lostCase{
		"nothing is lost where nothing changed": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.11/24", byNM) },
			after:  func(n *node) *node { return n.address("eth0", "192.0.2.11/24", byNM) },
		},
		"an address of an interface that is not named": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.200/32", byHand) },
			lost:   []string{"address 192.0.2.200/32 dev eth0"},
		},
		"one that NetworkManager makes is managed": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.11/24", byNM) },
			lost:   []string{"address 192.0.2.11/24 dev eth0 (managed)"},
		},
		"an address of a named interface whose family is not named": {
			change: ipv4OfEth1,
			before: func(n *node) *node {
				return n.address("eth1", "203.0.113.5/24", byHand).address("eth1", "2001:db8:1::5/64", byHand)
			},
			lost: []string{"address 2001:db8:1::5/64 dev eth1"},
		},
		"an address that came back with other flags is there": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth1", "203.0.113.5/24", byHand) },
			after:  func(n *node) *node { return n.address("eth1", "203.0.113.5/24", byNM) },
		},
		"a new port has no addresses of its own": {
			change: eth1InBr2,
			before: func(n *node) *node { return n.address("eth1", "203.0.113.5/24", byHand) },
		},
		"an interface is found by its MAC address too": {
			change: byMAC,
			before: func(n *node) *node { return n.address("eth1", "203.0.113.5/24", byHand) },
		},
		"link-local, temporary and autoconf addresses come and go": {
			change: mtuOfEth1,
			before: func(n *node) *node {
				return n.address("eth0", "fe80::1/64", byNM).address("eth0", "2001:db8::77/64", leased)
			},
		},
		"a lease is replaced by another one": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.100/24", leased) },
			after:  func(n *node) *node { return n.address("eth0", "192.0.2.101/24", leased) },
		},
		"but a lease that is simply gone is lost": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.100/24", leased) },
			lost:   []string{"address 192.0.2.100/24 dev eth0 (managed)"},
		},
		"what went with a pod's veth": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("pod1", "169.254.1.1/32", byHand) },
			after:  func(n *node) *node { return n.without("pod1") },
		},
		"what went with the carrier of an interface that is not named": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("eth0", "192.0.2.11/24", byNM) },
			after:  func(n *node) *node { return n.change("eth0", func(l *Link) { l.Carrier = false }) },
		},
		"on a link that its owner made anew": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.address("pod1", "169.254.1.1/32", byHand) },
			after:  func(n *node) *node { return n.change("pod1", func(l *Link) { l.Index = 77 }) },
		},
		"after a rollback all of a named interface is to be there": {
			change: ipv4OfEth1, back: true,
			before: func(n *node) *node { return n.address("eth1", "203.0.113.6/32", byHand) },
			lost:   []string{"address 203.0.113.6/32 dev eth1"},
		},
		"after a rollback one that is still the trial's port waits": {
			change: eth1InBr2, back: true,
			before: func(n *node) *node { return n.address("eth1", "203.0.113.6/32", byHand) },
			after:  func(n *node) *node { return n.change("eth1", func(l *Link) { l.Master = 4 }) },
		},
	} {
		t.Run(name, c.run)
	}
}

func TestLostRoutes(t *testing.T) {
	pods := func(n *node) *node { return n.via("10.244.1.0/24", "eth1", "203.0.113.2") }
	static := routeSpec{to: "10.1.0.0/16", ways: []way{{"eth1", "203.0.113.2"}}, protocol: protocolStatic, metric: 100}
	on0 := routeSpec{to: "10.1.0.0/16", ways: []way{{"eth0", "192.0.2.1"}}, protocol: protocolStatic, metric: 100}
	on0Else := on0
	on0Else.metric = 102
	multi := routeSpec{to: "10.2.0.0/16", ways: []way{{"eth0", "192.0.2.1"}, {"eth1", "203.0.113.2"}}, protocol: 12}
	multicast := func(device string) routeSpec {
		return routeSpec{to: "ff00::/8", ways: []way{{device, ""}}, protocol: protocolKernel, metric: 256, table: tableLocal, kind: typeMulticast}
	}
	for name, c := range map[string]lostCase{
		"a pod route on a named interface": {
			change: mtuOfEth1, before: pods,
			lost: []string{"route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot"},
		},
		"one that is there": {change: mtuOfEth1, before: pods, after: pods},
		"one that its owner replaced": {
			change: mtuOfEth1, before: pods,
			after: func(n *node) *node { return n.via("10.244.1.0/24", "eth1", "203.0.113.3") },
		},
		"one that a policy replaces":   {change: routeOfEth1, before: pods},
		"one that a policy wants gone": {change: noneOfEth1, before: pods},
		"in another table, with its metric and protocol": {
			change: mtuOfEth1,
			before: func(n *node) *node {
				return n.route(routeSpec{to: "fd00:244::/64", ways: []way{{"eth1", "2001:db8:1::2"}}, protocol: 12, metric: 32, table: 1000})
			},
			lost: []string{"route fd00:244::/64 via 2001:db8:1::2 dev eth1 table 1000 proto bird metric 32"},
		},
		"the route by which another link sends multicasts, which the kernel makes only when it comes up": {
			change: mtuOfEth1, before: func(n *node) *node { return n.route(multicast("eth0")) },
			lost: []string{"route ff00::/8 dev eth0 table 255 proto kernel metric 256 (slight)"},
		},
		"and that of a named link is the change's": {
			change: mtuOfEth1, before: func(n *node) *node { return n.route(multicast("eth1")) },
		},
		"but is to be there again once the change is taken back": {
			change: mtuOfEth1, back: true, before: func(n *node) *node { return n.route(multicast("eth1")) },
			lost: []string{"route ff00::/8 dev eth1 table 255 proto kernel metric 256 (slight)"},
		},
		"static routes of a named interface are the policy's": {
			change: mtuOfEth1, before: func(n *node) *node { return n.route(static) },
		},
		"a static route of another interface is managed": {
			change: mtuOfEth1, before: func(n *node) *node { return n.route(on0) },
			lost: []string{"route 10.1.0.0/16 via 192.0.2.1 dev eth0 proto static metric 100 (managed)"},
		},
		"and is there with any metric": {
			change: mtuOfEth1, before: func(n *node) *node { return n.route(on0) }, after: func(n *node) *node { return n.route(on0Else) },
		},
		"what follows from an address that somebody took away": {
			change: mtuOfEth1,
			before: func(n *node) *node {
				return n.route(routeSpec{to: "192.0.2.11/32", ways: []way{{"eth0", ""}}, protocol: protocolKernel, table: tableLocal})
			},
		},
		"a gateway route that says it is the kernel's": {
			change: mtuOfEth1,
			before: func(n *node) *node {
				return n.route(routeSpec{to: "10.0.0.0/8", ways: []way{{"eth1", "203.0.113.2"}}, protocol: protocolKernel})
			},
			lost: []string{"route 10.0.0.0/8 via 203.0.113.2 dev eth1 proto kernel"},
		},
		"router advertisements": {
			change: mtuOfEth1,
			before: func(n *node) *node {
				return n.route(routeSpec{to: "::/0", ways: []way{{"eth0", "fe80::1"}}, protocol: protocolRA}).
					route(routeSpec{to: "2001:db8::/64", ways: []way{{"eth0", ""}}, protocol: protocolKernel, extra: attr(rtaExpires, word(100)...)})
			},
		},
		"what went with a pod's veth": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.via("10.244.9.9/32", "pod1", "169.254.1.1") },
			after:  func(n *node) *node { return n.without("pod1") },
		},
		"a blackhole has no interface": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.route(routeSpec{to: "10.244.0.0/16", protocol: 12}) },
			lost:   []string{"route 10.244.0.0/16 proto bird"},
		},
		"a route of several ways of which one was dropped": {
			change: mtuOfEth1,
			before: func(n *node) *node { return n.route(multi) },
			after: func(n *node) *node {
				less := multi
				less.ways = multi.ways[:1]
				return n.route(less)
			},
			lost: []string{"route 10.2.0.0/16 nexthop via 192.0.2.1 dev eth0 nexthop via 203.0.113.2 dev eth1 proto bird"},
		},
		"follows the address to the bridge that its interface becomes a port of": {
			change: eth1InBr2, before: pods,
			after: func(n *node) *node {
				n.Links = append(n.Links, Link{Name: "br2", Index: 9, Kind: "bridge", MTU: 1500, Up: true})
				n.change("eth1", func(l *Link) { l.Master = 9 })
				return n.via("10.244.1.0/24", "br2", "203.0.113.2")
			},
		},
		"a default route where the policy takes one by DHCP": {
			change: `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true}}]}`,
			before: func(n *node) *node { return n.via("0.0.0.0/0", "eth1", "203.0.113.1") },
		},
		"and where the bridge does that takes the interface": {
			change: `{"interfaces":[{"name":"br2","type":"linux-bridge","state":"up","ipv4":{"enabled":true,"dhcp":true},"bridge":{"port":[{"name":"eth1"}]}}]}`,
			before: func(n *node) *node { return n.via("0.0.0.0/0", "eth1", "203.0.113.1") },
			after: func(n *node) *node {
				n.Links = append(n.Links, Link{Name: "br2", Index: 9, Kind: "bridge", MTU: 1500, Up: true})
				return n.change("eth1", func(l *Link) { l.Master = 9 })
			},
		},
		"a default route that the policy names, with any metric": {
			change: `{"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-interface":"eth1","next-hop-address":"203.0.113.9","metric":100}]}}`,
			before: func(n *node) *node { return n.via("0.0.0.0/0", "eth1", "203.0.113.1") },
		},
		"on an interface that is to be down": {
			change: eth1Down, before: pods,
			after: func(n *node) *node { return n.change("eth1", func(l *Link) { l.Up, l.Carrier = false, false }) },
			lost:  []string{"route 10.244.1.0/24 via 203.0.113.2 dev eth1 proto boot"},
		},
		"on an interface that is to be absent": {
			change: br1Absent,
			before: func(n *node) *node { return n.via("10.244.1.0/24", "br1", "203.0.113.2") },
			after:  func(n *node) *node { return n.without("br1").change("pod1", func(l *Link) { l.Master = 0 }) },
		},
		"after a rollback static routes of a named interface too": {
			change: mtuOfEth1, back: true, before: func(n *node) *node { return n.route(static) },
			lost: []string{"route 10.1.0.0/16 via 203.0.113.2 dev eth1 proto static metric 100 (managed)"},
		},
	} {
		t.Run(name, c.run)
	}
}

func TestLostIPv6(t *testing.T) {
	off := func(name string) func(*node) *node {
		return func(n *node) *node { return n.change(name, func(l *Link) { l.IPv6Off = true }) }
	}
	for name, c := range map[string]lostCase{
		"of a named interface is the change's":                 {change: mtuOfEth1, after: off("eth1")},
		"of a named interface comes back with its taking back": {change: mtuOfEth1, back: true, after: off("eth1"), lost: []string{"disable_ipv6 0 of interface eth1"}},
		"of another interface is put back":                     {change: mtuOfEth1, after: off("eth0"), lost: []string{"disable_ipv6 0 of interface eth0"}},
		"that was off stays off":                               {change: mtuOfEth1, back: true, before: off("eth1"), after: off("eth1")},
	} {
		t.Run(name, c.run)
	}
}

func TestLostLinks(t *testing.T) {
	for name, c := range map[string]lostCase{
		"another MTU": {
			change: mtuOfEth1,
			after:  func(n *node) *node { return n.change("eth0", func(l *Link) { l.MTU = 1400 }) },
			lost:   []string{"mtu 1500 of interface eth0"},
		},
		"set down": {
			change: mtuOfEth1,
			after:  func(n *node) *node { return n.change("eth0", func(l *Link) { l.Up = false }) },
			lost:   []string{"state up of interface eth0"},
		},
		"the VLAN on a named interface whose MTU it has to follow": {
			change: mtuOfEth1,
			after:  func(n *node) *node { return n.change("eth1.7", func(l *Link) { l.MTU = 1400 }) },
			lost:   []string{"mtu 1500 of interface eth1.7"},
		},
		"a named interface may change": {change: mtuOfEth1, after: func(n *node) *node { return n.change("eth1", func(l *Link) { l.MTU = 1400 }) }},
		"a pod's veth may come and go": {change: mtuOfEth1, after: func(n *node) *node { return n.without("pod1") }},
		"and be changed by its owner":  {change: mtuOfEth1, after: func(n *node) *node { return n.change("pod1", func(l *Link) { l.MTU = 1400 }) }},
		"a pod's port of a named bridge": {
			change: mtuOfBr1,
			after:  func(n *node) *node { return n.change("pod1", func(l *Link) { l.Master = 0 }) },
			lost:   []string{"master br1 of interface pod1"},
		},
		"a port that the policy's list leaves out": {
			change: portsOfBr1,
			after:  func(n *node) *node { return n.change("pod1", func(l *Link) { l.Master = 0 }) },
		},
		"a port of a bridge that the policy takes away": {
			change: br1Absent,
			after:  func(n *node) *node { return n.without("br1").change("pod1", func(l *Link) { l.Master = 0 }) },
		},
		"and so was set down": {
			change: br1Absent,
			after: func(n *node) *node {
				return n.without("br1").change("pod1", func(l *Link) { l.Master, l.Up = 0, false })
			},
		},
		"a VLAN that went with the interface that it stood on": {
			change: eth1Down,
			after:  func(n *node) *node { return n.without("eth1").without("eth1.7") },
			lost:   []string{"the interface eth1.7"},
		},
		"a VLAN that its owner took away": {change: eth1Down, after: func(n *node) *node { return n.without("eth1.7") }},
	} {
		t.Run(name, c.run)
	}
}

func TestWhatWasLostComesBackOnTheLinkThatWasMadeAnew(t *testing.T) {
	before := aNode(t).address("br1", "203.0.113.5/24", byHand).via("10.244.1.0/24", "br1", "203.0.113.2")
	after := aNode(t).change("br1", func(l *Link) { l.Index = 44 })
	lost := Lost(before.Snapshot, after.Snapshot, NamedBy(document(t, br1Absent)).Back())
	if len(lost) != 2 {
		t.Fatalf("lost %v", lost)
	}
	a, _ := lost[0].Address.read()
	r, _ := lost[1].Route.read()
	if a.device != 44 || r.hops[0].device != 44 {
		t.Errorf("the address goes to link %d, the route to %d, want 44", a.device, r.hops[0].device)
	}
	if old, _ := before.Routes[0].read(); old.hops[0].device != 4 {
		t.Error("what was noted was changed")
	}
}

func TestWhatTheKernelSaysOfItsOwnAccordIsNotPutBack(t *testing.T) {
	n := aNode(t).route(routeSpec{
		to: "10.0.0.0/8", ways: []way{{"eth0", "192.0.2.1"}, {"eth1", "203.0.113.2"}}, protocol: 12,
		extra: append(attr(rtaCacheInfo, make([]byte, 32)...), attr(rtaNextHopID, word(7)...)...),
	})
	raw := n.Routes[0]
	raw[8] = 0x10 | hopOnLink // RTNH_F_LINKDOWN is refused.
	kinds := func(r Route) (found []uint16) {
		for _, a := range attributes(r, routeHeader) {
			found = append(found, a.kind)
		}
		return found
	}
	byID := raw.restorable(nil, true)
	if diff := cmp.Diff([]uint16{rtaTable, rtaDst, rtaPriority, rtaNextHopID}, kinds(byID)); diff != "" {
		t.Errorf("with the nexthop object:\n%s", diff)
	}
	if diff := cmp.Diff([]uint16{rtaTable, rtaDst, rtaPriority, rtaMultipath}, kinds(raw.restorable(nil, false))); diff != "" {
		t.Errorf("without it:\n%s", diff)
	}
	if byID[8] != hopOnLink {
		t.Errorf("flags %#x", byID[8])
	}
}

func TestOnlyWhatIsOnANamedLinkIsAtStake(t *testing.T) {
	n := aNode(t).via("10.244.1.0/24", "eth0", "192.0.2.1")
	if AtStake(n.Snapshot, NamedBy(document(t, mtuOfEth1))) {
		t.Error("a route on eth0 is at stake when eth1 is named")
	}
	n.via("10.244.2.0/24", "eth1", "203.0.113.2")
	if !AtStake(n.Snapshot, NamedBy(document(t, mtuOfEth1))) {
		t.Error("a route on eth1 is not at stake when eth1 is named")
	}
}

func TestTheJournalsRevertDoesNotMakeOthersRoutesNetworkManagersOwn(t *testing.T) {
	n := aNode(t).via("10.244.1.0/24", "eth1", "203.0.113.2").
		route(routeSpec{to: "10.1.0.0/16", ways: []way{{"eth1", "203.0.113.2"}}, protocol: protocolStatic, metric: 100})
	revert := document(t, `{"routes":{"config":[
		{"state":"absent","next-hop-interface":"eth1"},
		{"destination":"10.244.1.0/24","next-hop-interface":"eth1","next-hop-address":"203.0.113.2","metric":0,"table-id":254},
		{"destination":"10.1.0.0/16","next-hop-interface":"eth1","next-hop-address":"203.0.113.2","metric":100,"table-id":254}]}}`)
	var left []string
	for _, route := range Without(revert, n.Snapshot).Routes() {
		left = append(left, route.String())
	}
	want := []string{"any route dev eth1", "10.1.0.0/16 via 203.0.113.2 dev eth1 metric 100"}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Error(diff)
	}
}

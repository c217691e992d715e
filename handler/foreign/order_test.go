package foreign

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gateways has default routes of the protocol through devices, with their metrics.
func (n *node) gateways(protocol byte, metrics map[string]int) *node {
	for device, metric := range metrics {
		n.route(routeSpec{to: "0.0.0.0/0", ways: []way{{device, "203.0.113.254"}}, protocol: protocol, metric: metric})
	}
	return n
}

func TestOutranked(t *testing.T) {
	dhcp := func(metrics map[string]int) func(*node) *node {
		return func(n *node) *node { return n.gateways(protocolDHCP, metrics) }
	}
	connected := func(to string, metrics map[string]int) func(*node) *node {
		return func(n *node) *node {
			for device, metric := range metrics {
				n.route(routeSpec{to: to, ways: []way{{device: device}}, protocol: protocolKernel, metric: metric})
			}
			return n
		}
	}
	both := map[string]int{"eth0": 100, "eth1": 101}
	for name, c := range map[string]struct {
		before, after func(*node) *node
		outranked     []string
	}{
		"nothing where the order is as before":            {before: dhcp(both), after: dhcp(both)},
		"nothing where other metrics have the same order": {before: dhcp(both), after: dhcp(map[string]int{"eth0": 103, "eth1": 107})},
		"nothing where one gateway is all that there was": {before: dhcp(map[string]int{"eth0": 100}), after: dhcp(map[string]int{"eth0": 103})},
		"nothing where both had the same metric":          {before: dhcp(map[string]int{"eth0": 100, "eth1": 100}), after: dhcp(map[string]int{"eth0": 103, "eth1": 100})},
		"nothing where the metric is a routing daemon's":  {before: func(n *node) *node { return n.gateways(186, both) }, after: func(n *node) *node { return n.gateways(186, map[string]int{"eth0": 102, "eth1": 101}) }},
		"nothing where somebody else's route has gone": {
			before: func(n *node) *node {
				return n.gateways(protocolBoot, map[string]int{"eth1": 101}).gateways(protocolDHCP, map[string]int{"eth0": 100})
			},
			after: dhcp(map[string]int{"eth0": 102}),
		},
		"a device that comes after somebody else's route now": {
			before: func(n *node) *node {
				return n.gateways(protocolBoot, map[string]int{"eth1": 101}).gateways(protocolDHCP, map[string]int{"eth0": 100})
			},
			after: func(n *node) *node {
				return n.gateways(protocolBoot, map[string]int{"eth1": 101}).gateways(protocolDHCP, map[string]int{"eth0": 102})
			},
			outranked: []string{"eth0 IPv4 to 100: route 0.0.0.0/0: eth0 came before eth1"},
		},
		"nothing where a gateway leads to no Internet now": {before: dhcp(both), after: dhcp(map[string]int{"eth0": 20100, "eth1": 101})},
		"the device that comes last now, since it was activated anew": {
			before: dhcp(both), after: dhcp(map[string]int{"eth0": 102, "eth1": 101}),
			outranked: []string{"eth0 IPv4 to 100: route 0.0.0.0/0: eth0 came before eth1"},
		},
		"each of two that changed places": {
			before: dhcp(both), after: dhcp(map[string]int{"eth0": 101, "eth1": 100}),
			outranked: []string{
				"eth0 IPv4 to 100: route 0.0.0.0/0: eth0 came before eth1",
				"eth1 IPv4 to 101: route 0.0.0.0/0: eth0 came before eth1",
			},
		},
		"those of three that lost their places": {
			before: dhcp(map[string]int{"eth0": 100, "eth1": 101, "br1": 102}), after: dhcp(map[string]int{"eth0": 103, "eth1": 104, "br1": 102}),
			outranked: []string{
				"eth0 IPv4 to 100: route 0.0.0.0/0: eth0 came before br1",
				"eth1 IPv4 to 101: route 0.0.0.0/0: eth1 came before br1",
			},
		},
		"two NICs in one subnet": {
			before: connected("203.0.113.0/24", both), after: connected("203.0.113.0/24", map[string]int{"eth0": 102, "eth1": 101}),
			outranked: []string{"eth0 IPv4 to 100: route 203.0.113.0/24: eth0 came before eth1"},
		},
		"two of IPv6": {
			before: connected("2001:db8::/64", both), after: connected("2001:db8::/64", map[string]int{"eth0": 102, "eth1": 101}),
			outranked: []string{"eth0 IPv6 to 100: route 2001:db8::/64: eth0 came before eth1"},
		},
		"nothing of link-local addresses": {
			before: connected("fe80::/64", both), after: connected("fe80::/64", map[string]int{"eth0": 102, "eth1": 101}),
		},
		"nothing of other tables than the other one's": {
			before: func(n *node) *node {
				return n.gateways(protocolDHCP, map[string]int{"eth0": 100}).route(routeSpec{to: "0.0.0.0/0", ways: []way{{"eth1", "203.0.113.254"}}, protocol: protocolDHCP, metric: 101, table: 7})
			},
			after: dhcp(map[string]int{"eth0": 102, "eth1": 101}),
		},
		"one that waits for its lease": {
			before: dhcp(both), after: dhcp(map[string]int{"eth1": 101}),
			outranked: []string{"eth0 IPv4 to 100, late: route 0.0.0.0/0: eth0 came before eth1"},
		},
		"the second one, too: it may come back as the first": {
			before: dhcp(both), after: dhcp(map[string]int{"eth0": 100}),
			outranked: []string{"eth1 IPv4 to 101, late: route 0.0.0.0/0: eth0 came before eth1"},
		},
		"nothing of a static route that is missing, whose metric may be its own": {
			before: func(n *node) *node { return n.gateways(protocolStatic, both) },
			after:  func(n *node) *node { return n.gateways(protocolStatic, map[string]int{"eth1": 101}) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range Outranked(c.before(aNode(t)).Snapshot, c.after(aNode(t)).Snapshot) {
				family, late := "IPv4", ""
				if o.IPv6 {
					family = "IPv6"
				}
				if o.Late {
					late = ", late"
				}
				got = append(got, fmt.Sprintf("%s %s to %d%s: %s", o.Device, family, o.Metric, late, o))
			}
			if diff := cmp.Diff(c.outranked, got); diff != "" {
				t.Errorf("outranked (-want +got):\n%s", diff)
			}
		})
	}
}

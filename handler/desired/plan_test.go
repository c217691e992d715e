package desired

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// plannedNode is a node with two NICs: the default route leads over eth0, and a
// VLAN stands on eth2.
const plannedNode = `
interfaces:
- {name: eth0, type: ethernet, state: up, mtu: 1500, ipv4: {enabled: true, dhcp: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}, ipv6: {enabled: true, address: [{ip: "fe80::1", prefix-length: 64}]}}
- {name: eth1, type: ethernet, state: up, mtu: 1500, mac-address: "02:00:00:00:00:01", ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.10, prefix-length: 24}]}}
- {name: eth2, type: ethernet, state: up, mtu: 1500, ipv4: {enabled: false}}
- {name: eth2.7, type: vlan, state: up, vlan: {id: 7, base-iface: eth2}, ipv4: {enabled: false}}
- {name: eth3, type: ethernet, state: down, mtu: 1500}
- {name: br9, type: linux-bridge, state: up, bridge: {port: [{name: eth9}]}}
- {name: eth9, type: ethernet, state: up, mtu: 1500, controller: br9}
routes:
  running:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eth0, table-id: 254}
  - {destination: "::/0", next-hop-address: "fe80::9", next-hop-interface: br9, table-id: 254}
  config: []
dns-resolver: {config: {server: [192.0.2.53]}, running: {server: [192.0.2.53]}}
`

// shownPlan is a plan as a person reads it.
func shownPlan(p v1.EnactmentPlan) string {
	var out strings.Builder
	fmt.Fprintln(&out, p.Disruption)
	for _, i := range p.Interfaces {
		fmt.Fprintf(&out, "%s %s (%s)\n", i.Name, i.Disruption, i.Reason)
		for _, line := range i.Changes {
			fmt.Fprintf(&out, "  %s\n", line)
		}
	}
	for _, line := range p.Changes {
		fmt.Fprintln(&out, line)
	}
	return strings.TrimSpace(out.String())
}

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct{ desired, want, undone string }{
		"what the node has is no change": {
			`interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1500}]`,
			`None`, ``,
		},
		"an MTU is changed while the link is up": {
			`interfaces: [{name: eth1, mtu: 9000}]`,
			"Reapply\neth1 Reapply (settings change)\n  mtu: 1500 -> 9000", ``,
		},
		"an address more is harmless": {
			`interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 203.0.113.10, prefix-length: 24}, {ip: 203.0.113.11, prefix-length: 24}]}}]`,
			"Reapply\neth1 Reapply (settings change)\n  ipv4.address: -> 203.0.113.11/24", ``,
		},
		"an address that is not listed any more is lost": {
			`interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 203.0.113.11, prefix-length: 24}]}}]`,
			"AddressLoss\neth1 AddressLoss (it loses 203.0.113.10/24)\n  ipv4.address: -> 203.0.113.11/24\n  ipv4.address: 203.0.113.10/24 ->", ``,
		},
		"a NIC that was down has nothing to lose": {
			`interfaces: [{name: eth3, state: up, mtu: 1400}]`,
			"Reapply\neth3 Reapply (it comes up)\n  state: down -> up\n  mtu: 1500 -> 1400", ``,
		},
		"another MAC address takes the link down": {
			`interfaces: [{name: eth1, mac-address: "02:00:00:00:00:02"}]`,
			"LinkFlap\neth1 LinkFlap (its MAC address changes)\n  mac-address: 02:00:00:00:00:01 -> 02:00:00:00:00:02", ``,
		},
		"a NIC that carries the default route is at risk as a port": {
			`interfaces: [{name: br0, type: linux-bridge, state: up, bridge: {port: [{name: eth0}]}}]`,
			"ConnectivityRisk\nbr0 Reapply (it is made)\n  is made\neth0 ConnectivityRisk (it has a default route, and it becomes a port of br0 and loses 192.0.2.10/24)\n  controller: -> br0", ``,
		},
		"a NIC without addresses only flaps as a port": {
			`interfaces: [{name: br0, type: linux-bridge, state: up, bridge: {port: [{name: eth2}]}}]`,
			"LinkFlap\nbr0 Reapply (it is made)\n  is made\neth2 LinkFlap (it becomes a port of br0)\n  controller: -> br0", ``,
		},
		"the port of a bridge that carries the default route is at risk too": {
			`interfaces: [{name: eth9, mac-address: "02:00:00:00:00:09"}]`,
			"ConnectivityRisk\neth9 ConnectivityRisk (br9, which has a default route, depends on it, and its MAC address changes)\n  mac-address: -> 02:00:00:00:00:09", ``,
		},
		"a harmless change of what carries it is no risk": {
			`interfaces: [{name: eth0, mtu: 1400}]`,
			"Reapply\neth0 Reapply (settings change)\n  mtu: 1500 -> 1400", ``,
		},
		"no DHCP on what carries the default route is a risk": {
			`interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}}]`,
			"ConnectivityRisk\neth0 ConnectivityRisk (it has a default route, and it takes no ipv4 addresses any more)\n  ipv4.dhcp: true -> false", ``,
		},
		"an interface that goes takes its addresses along": {
			`interfaces: [{name: eth2.7, state: absent}]`,
			"AddressLoss\neth2.7 AddressLoss (it is removed)\n  is removed", ``,
		},
		"a NIC that is given back loses its configuration": {
			`interfaces: [{name: eth1, state: absent}]`,
			"AddressLoss\neth1 AddressLoss (its configuration goes)\n  state: up -> absent", ``,
		},
		"another VLAN id makes the VLAN anew": {
			`interfaces: [{name: eth2.7, type: vlan, vlan: {id: 8, base-iface: eth2}}]`,
			"LinkFlap\neth2.7 LinkFlap (it is made anew, since vlan.id changes)\n  vlan.id: 7 -> 8", ``,
		},
		"routes and name servers are of no interface": {
			`{routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: eth1}]}, dns-resolver: {config: {server: [192.0.2.54]}}}`,
			"Reapply\nroutes.config: -> 198.51.100.0/24 dev eth1\ndns-resolver.config.server: -> 192.0.2.54", ``,
		},
		"a default route more may draw the traffic to itself": {
			`routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: eth1, next-hop-address: 203.0.113.1}]}`,
			"ConnectivityRisk\neth1 ConnectivityRisk (a default route over it changes)\nroutes.config: -> 0.0.0.0/0 via 203.0.113.1 dev eth1", ``,
		},
		"what is not named any more goes back where the policy says so": {
			`interfaces: [{name: eth1, mtu: 1500}]`,
			"ConnectivityRisk\nbr9 ConnectivityRisk (it has a default route, and it goes back to what was before the policy)\n  goes back to what was before the policy\n" +
				"eth1 AddressLoss (it loses 203.0.113.10/24)\n  ipv4.address[203.0.113.10/24]: goes back to what was before the policy\n" +
				"routes.config[198.51.100.0/24 dev eth1]: -> goes back to what was before the policy",
			`{interfaces: [{name: eth1, mtu: 1500, ipv4: {address: [{ip: 203.0.113.10, prefix-length: 24}]}}, {name: br9, type: linux-bridge}],
			  routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: eth1}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := stateOf(t, test.desired)
			got := Plan(rendered, rendered, stateOf(t, plannedNode), Undone{Held: stateOf(t, test.undone), All: stateOf(t, test.undone)})
			if diff := cmp.Diff(test.want, shownPlan(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPlanIsIdentifiedByWhatItSays(t *testing.T) {
	current, other := stateOf(t, plannedNode), stateOf(t, strings.ReplaceAll(plannedNode, "name: eth1, type: ethernet, state: up, mtu: 1500", "name: eth1, type: ethernet, state: up, mtu: 1400"))
	one := stateOf(t, `interfaces: [{name: eth1, mtu: 9000}]`)
	two := stateOf(t, `interfaces: [{name: eth1, mtu: 9001}]`)
	hash := Plan(one, one, current, Undone{}).Hash
	if again := Plan(one, one, current, Undone{}).Hash; again != hash {
		t.Errorf("the same plan has hashes %s and %s", hash, again)
	}
	if Plan(two, two, current, Undone{}).Hash == hash || Plan(one, one, other, Undone{}).Hash == hash {
		t.Error("another rendering, or another node, has the same plan")
	}
	if len(hash) != 16 {
		t.Errorf("hash %q", hash)
	}
}

func TestAnAddressOfAnotherPolicyIsNotLost(t *testing.T) {
	current := stateOf(t, plannedNode)
	one := stateOf(t, `interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 203.0.113.11, prefix-length: 24}]}}]`)
	both := stateOf(t, `interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 203.0.113.10, prefix-length: 24}, {ip: 203.0.113.11, prefix-length: 24}]}}]`)
	if got := Plan(one, both, current, Undone{}); got.Disruption != v1.DisruptionReapply {
		t.Error(shownPlan(got))
	}
}

func TestALongPlanIsCut(t *testing.T) {
	var text strings.Builder
	text.WriteString("routes: {config: [")
	for i := range 250 {
		fmt.Fprintf(&text, "{destination: 198.51.%d.0/24, next-hop-interface: eth1},", i)
	}
	many := stateOf(t, text.String()+"]}")
	got := Plan(many, many, stateOf(t, plannedNode), Undone{})
	if len(got.Changes) != maxPlanLines+1 || got.Changes[maxPlanLines] != "and 50 more" {
		t.Errorf("%d lines, the last %q", len(got.Changes), got.Changes[len(got.Changes)-1])
	}
}

func TestAPlanIsMadeOfTheWholeReportOnly(t *testing.T) {
	whole := stateOf(t, plannedNode)
	for sentence, c := range map[string]struct {
		truncated *v1.Truncated
		whole     *state.State
		known     bool
	}{
		"of a report that is whole":                     {nil, nil, true},
		"of one that is truncated, where the rest is":   {&v1.Truncated{}, &whole, true},
		"not of one that is truncated, where it is not": {&v1.Truncated{}, nil, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			nns := &v1.NodeNetworkState{Status: v1.NodeNetworkStateStatus{CurrentState: v1.NewState(whole.JSON()), Truncated: c.truncated}}
			made := &turn{in: Input{State: nns, Whole: c.whole}}
			if _, known := made.report(); known != c.known {
				t.Errorf("known is %v", known)
			}
			if told, known := made.told(); !known || !told.Equal(whole) {
				t.Error("what was told is not known")
			}
		})
	}
}

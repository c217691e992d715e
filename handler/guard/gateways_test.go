package guard

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// targets reads "192.0.2.1 eth0 100, fe80::1%eth0 eth0".
func targets(t *testing.T, text string) []Target {
	t.Helper()
	var found []Target
	for entry := range strings.SplitSeq(text, ",") {
		fields := strings.Fields(entry)
		if len(fields) == 0 {
			continue
		}
		target := Target{Address: netip.MustParseAddr(fields[0]), Metric: 100}
		if len(fields) > 1 {
			target.Interface = fields[1]
		}
		if len(fields) > 2 {
			target.Metric = len(fields[2]) // "." is the best one, ".." the next.
		}
		found = append(found, target)
	}
	return found
}

func parsed(t *testing.T, document string) state.State {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	desired, err := state.ParseDesired(raw)
	if err != nil {
		t.Fatal(err)
	}
	return desired
}

// demanded is "192.0.2.1, 192.0.2.2|192.0.2.3; what is lost".
func demanded(d Demand) string {
	var groups []string
	for _, group := range d.Groups {
		var one []string
		for _, address := range group {
			one = append(one, address.String())
		}
		groups = append(groups, strings.Join(one, "|"))
	}
	return strings.Join(append([]string{strings.Join(groups, ", ")}, d.Lost...), "; ")
}

const (
	both       = "192.0.2.1 eth0, fe80::1%eth0 eth0"
	mtu        = "interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400}]"
	uplinkDown = "interfaces: [{name: eth1, type: ethernet, state: down}]"
	noIPv6     = "interfaces: [{name: eth0, type: ethernet, state: up, ipv6: {enabled: false}}]"
	intoBridge = `
interfaces:
- {name: eth0, type: ethernet, state: up, ipv4: {enabled: false}, ipv6: {enabled: false}}
- {name: br1, type: linux-bridge, state: up, ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: true, autoconf: true}, bridge: {port: [{name: eth0}]}}
`
	onlyIPv4 = `
interfaces:
- {name: br1, type: linux-bridge, state: up, ipv4: {enabled: true, dhcp: true}, bridge: {port: [{name: eth0}]}}
`
	intoOpenVSwitch = `
interfaces:
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eth0}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface, state: up, ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: true, autoconf: true}}
`
	static = `
interfaces:
- {name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.11, prefix-length: 24}]}}
`
	route = `{destination: 0.0.0.0/0, next-hop-address: 192.0.2.99, next-hop-interface: eth0}`
)

func TestWhichDefaultGatewaysMustAnswer(t *testing.T) {
	routes := func(entries ...string) string { return "routes: {config: [" + strings.Join(entries, ", ") + "]}" }
	absent := func(more string) string { return "{state: absent" + more + "}" }
	lost := func(gateway, link, family string) string {
		return gateway + " by " + link + " answered, is no default gateway of " + family + " any more, and the change does not say so"
	}
	for name, c := range map[string]struct {
		answered, silent, desired, now, want string
		removed                              int // Families that the change removes.
	}{
		"each that is there still must answer": {answered: both, desired: mtu, now: both, want: "192.0.2.1, fe80::1%eth0"},
		"one that never answered blocks nothing": {
			answered: "192.0.2.1 eth0", silent: "fe80::1%eth0 eth0", desired: mtu, now: both, want: "192.0.2.1"},
		"a dead one replaces the IPv4 gateway, and IPv6 answers": {
			answered: both, desired: static + "\n" + routes(route), now: "192.0.2.99 eth0, fe80::1%eth0 eth0", want: "192.0.2.99, fe80::1%eth0"},
		"a new one that all packets take must answer although the former is there still": {
			answered: both, desired: routes(route), now: "192.0.2.1 eth0 .., 192.0.2.99 eth0 ., fe80::1%eth0 eth0", want: "192.0.2.1, 192.0.2.99, fe80::1%eth0"},
		"a new one that is only a reserve need not answer": {
			answered: "192.0.2.1 eth0", desired: routes(route), now: "192.0.2.1 eth0 ., 192.0.2.99 eth0 ..", want: "192.0.2.1"},
		"of new ones that share the packets each must answer": {
			answered: "192.0.2.1 eth0", desired: routes(route), now: "192.0.2.98 eth0, 192.0.2.99 eth0", want: "192.0.2.98|192.0.2.99, 192.0.2.98, 192.0.2.99"},
		"a NIC that becomes a port has its gateways on the bridge": {
			answered: both, desired: intoBridge, now: "192.0.2.1 br1, fe80::1%br1 br1", want: "192.0.2.1, fe80::1%br1"},
		"a router of the same name on another uplink is not the one that moved": {
			answered: both, silent: "fe80::1%eth1 eth1", desired: intoBridge, now: "192.0.2.1 br1, fe80::1%br1 br1, fe80::1%eth1 eth1", want: "192.0.2.1, fe80::1%br1"},
		"the bridge learns no IPv6 gateway": {
			answered: both, desired: intoBridge, now: "192.0.2.1 br1", want: "192.0.2.1; " + lost("fe80::1", "eth0", "IPv6")},
		"the bridge has IPv4 only, so the change is without IPv6": {
			answered: both, desired: onlyIPv4, now: "192.0.2.1 br1", want: "192.0.2.1", removed: 1},
		"the bridge has IPv4 only, and its gateway is lost": {
			answered: both, desired: onlyIPv4, now: "fe80::1%br1 br1", want: "; " + lost("192.0.2.1", "eth0", "IPv4"), removed: 1},
		"an Open vSwitch bridge has its addresses on another port": {
			answered: both, desired: intoOpenVSwitch, now: "192.0.2.1 br-ex", want: "192.0.2.1; " + lost("fe80::1", "eth0", "IPv6")},
		"of the bridge the change says no more": {
			answered: both, desired: "interfaces: [{name: eth0, type: ethernet, state: up, controller: br1}]", now: "192.0.2.1 br1",
			want: "192.0.2.1; " + lost("fe80::1", "eth0", "IPv6")},
		"the bridge learns another gateway": {
			answered: "192.0.2.1 eth0", desired: intoBridge, now: "192.0.2.7 br1", want: "192.0.2.7"},
		"a static address without a default route": {
			answered: both, desired: static, now: "fe80::1%eth0 eth0", want: "fe80::1%eth0; " + lost("192.0.2.1", "eth0", "IPv4")},
		"the change switches IPv6 off": {
			answered: both, desired: noIPv6, now: "192.0.2.1 eth0", want: "192.0.2.1", removed: 1},
		"the change learns no IPv6 gateway any more": {
			answered: both, desired: "interfaces: [{name: eth0, type: ethernet, state: up, ipv6: {enabled: true, autoconf: true, auto-gateway: false}}]",
			now: "192.0.2.1 eth0", want: "192.0.2.1", removed: 1},
		"the change takes the IPv6 default route away": {
			answered: both, desired: routes(absent(`, destination: "::/0", next-hop-interface: eth0`)), now: "192.0.2.1 eth0", want: "192.0.2.1", removed: 1},
		"the change takes away a default route of another table": {
			answered: both, desired: routes(absent(`, destination: "::/0", next-hop-interface: eth0, table-id: 200`)), now: "192.0.2.1 eth0",
			want: "192.0.2.1; " + lost("fe80::1", "eth0", "IPv6")},
		"the change replaces the route, and the new one is not there": {
			answered: both, desired: routes(absent(", destination: 0.0.0.0/0, next-hop-interface: eth0"), route), now: "fe80::1%eth0 eth0",
			want: "fe80::1%eth0; " + lost("192.0.2.1", "eth0", "IPv4")},
		"the change takes all gateways away: one must answer all the same": {
			answered: both, desired: "interfaces: [{name: eth0, type: ethernet, state: down}]", want: "; the main routing table has no default gateway", removed: 2},
		"one of two uplinks goes, as the change says": {
			answered: "192.0.2.1 eth0, 198.51.100.1 eth1", desired: uplinkDown, now: "192.0.2.1 eth0", want: "192.0.2.1"},
		"one of two uplinks goes, and what is left never answered": {
			answered: "198.51.100.1 eth1", silent: "192.0.2.1 eth0", desired: uplinkDown + "\n" + routes(absent(", destination: 0.0.0.0/0, next-hop-interface: eth1"), route),
			now: "192.0.2.1 eth0", want: "192.0.2.1"},
		"one of two uplinks goes, and the change is about another link": {
			answered: "192.0.2.1 eth0, 198.51.100.1 eth2", desired: mtu, now: "192.0.2.1 eth0",
			want: "192.0.2.1; " + lost("198.51.100.1", "eth2", "IPv4")},
		"two uplinks with one gateway are one gateway": {
			answered: "192.0.2.1 eth0, 192.0.2.1 eth1", desired: uplinkDown, now: "192.0.2.1 eth0", want: "192.0.2.1"},
		"both gateways of a route with two next hops must answer": {
			answered: "192.0.2.1 eth0, 192.0.2.2 eth0", desired: mtu, now: "192.0.2.1 eth0, 192.0.2.2 eth0", want: "192.0.2.1, 192.0.2.2"},
		"a family that comes with the change guards nothing": {
			answered: "192.0.2.1 eth0", desired: mtu, now: both, want: "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			before, desired := Before{targets(t, c.answered), targets(t, c.silent)}, parsed(t, c.desired)
			if diff := cmp.Diff(c.want, demanded(Gateways(before, desired, targets(t, c.now)))); diff != "" {
				t.Errorf("what must answer differs (-want +got):\n%s", diff)
			}
			if lines := RemovedFamilies(before, desired); len(lines) != c.removed {
				t.Errorf("the change removes %q, want %d", lines, c.removed)
			}
		})
	}
}

func TestWhichNameServersMustAnswer(t *testing.T) {
	for name, c := range map[string]struct{ answered, silent, now, want string }{
		"each that is asked still":                    {"192.0.2.1, 2001:db8::1", "", "192.0.2.1, 2001:db8::1", "192.0.2.1, 2001:db8::1"},
		"not one that never answered":                 {"192.0.2.1", "192.0.2.2", "192.0.2.1, 192.0.2.2", "192.0.2.1"},
		"one of those that are new":                   {"192.0.2.1", "", "192.0.2.1, 192.0.2.8, 192.0.2.9", "192.0.2.1, 192.0.2.8|192.0.2.9"},
		"a dead one that replaces one of two":         {"192.0.2.1, 192.0.2.2", "", "192.0.2.1, 192.0.2.9", "192.0.2.1, 192.0.2.9"},
		"fewer are no loss":                           {"192.0.2.1, 192.0.2.2", "", "192.0.2.2", "192.0.2.2"},
		"one that never answered, where no other is":  {"192.0.2.1", "192.0.2.2", "192.0.2.2", "192.0.2.2"},
		"none at all is a loss":                       {"192.0.2.1", "", "", "; the host has no name server"},
		"a link-local one that went with its link on": {"fe80::1%eth0", "", "fe80::1%br1", "fe80::1%br1"},
	} {
		t.Run(name, func(t *testing.T) {
			before := Before{targets(t, c.answered), targets(t, c.silent)}
			if diff := cmp.Diff(c.want, demanded(NameServers(before, targets(t, c.now)))); diff != "" {
				t.Errorf("what must answer differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichAddressesOfTheAPIServerMustAnswer(t *testing.T) {
	const dual = "192.0.2.5, 192.0.2.6, 2001:db8::5"
	for name, c := range map[string]struct{ answered, silent, desired, want string }{
		"one of each family":                        {dual, "", mtu, "192.0.2.5|192.0.2.6, 2001:db8::5"},
		"none of a family that never answered":      {"192.0.2.5, 192.0.2.6", "2001:db8::5", mtu, "192.0.2.5|192.0.2.6"},
		"none of a family that is switched off":     {dual, "", noIPv6, "192.0.2.5|192.0.2.6"},
		"one of a family that moves into a bridge":  {dual, "", intoBridge, "192.0.2.5|192.0.2.6, 2001:db8::5"},
		"none of a family that a bridge is without": {dual, "", onlyIPv4, "192.0.2.5|192.0.2.6"},
		"one at all, whatever is switched off":      {"2001:db8::5", "192.0.2.5", noIPv6, "192.0.2.5|192.0.2.6|2001:db8::5"},
	} {
		t.Run(name, func(t *testing.T) {
			before := Before{targets(t, c.answered), targets(t, c.silent)}
			if diff := cmp.Diff(c.want, demanded(Servers(before, parsed(t, c.desired), targets(t, dual)))); diff != "" {
				t.Errorf("what must answer differs (-want +got):\n%s", diff)
			}
		})
	}
}

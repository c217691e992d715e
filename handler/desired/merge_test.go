package desired

import (
	"math/rand"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func stateOf(t testing.TB, text string) state.State {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := state.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// inOrder makes contributions a, b, c, ... of which each precedes the next.
func inOrder(t testing.TB, texts ...string) []Contribution {
	var all []Contribution
	for i, text := range texts {
		s := stateOf(t, text)
		all = append(all, Contribution{
			Policy: string(rune('a' + i)), Generation: 1, Hash: s.Hash(),
			Created: time.Unix(int64(1000+i), 0), State: s,
		})
	}
	return all
}

func TestMerge(t *testing.T) {
	for name, test := range map[string]struct {
		policies  []string
		merged    string
		conflicts []string
	}{
		"nothing merges to nothing": {merged: `{}`},
		"interfaces of different names stand side by side, in merge order": {
			policies: []string{`interfaces: [{name: eth2, mtu: 1400}]`, `interfaces: [{name: eth1}]`},
			merged:   `interfaces: [{name: eth2, mtu: 1400}, {name: eth1}]`,
		},
		"an interface of two policies has what both say of it": {
			policies: []string{`interfaces: [{name: eth1, type: ethernet, mtu: 1400}]`, `interfaces: [{name: eth1, state: up, mtu: 1400}]`},
			merged:   `interfaces: [{name: eth1, type: ethernet, mtu: 1400, state: up}]`,
		},
		"a key of Open vSwitch's database that one policy takes away another one may not set": {
			policies: []string{
				`ovs-db: {external_ids: {a: null, b: "1"}}`,
				`ovs-db: {external_ids: {c: null}, other_config: {d: null}}`,
				`ovs-db: {external_ids: {a: "1"}}`,
			},
			merged:    `ovs-db: {external_ids: {a: null, b: "1", c: null}, other_config: {d: null}}`,
			conflicts: []string{`policy c conflicts with policy a at ovs-db.external_ids.a: "1" here, null there`},
		},
		"a column of Open vSwitch's database that one policy empties another one may not fill": {
			policies: []string{
				`ovs-db: {external_ids: {}}`,
				`ovs-db: {other_config: {d: null}}`,
				`ovs-db: {external_ids: {a: "1"}}`,
				`ovs-db: {}`,
			},
			merged: `ovs-db: {external_ids: {}, other_config: {d: null}}`,
			conflicts: []string{
				`policy c conflicts with policy a at ovs-db.external_ids: {"a":"1"} here, {} there`,
				`policy d conflicts with policy a at ovs-db: {} here, {"external_ids":{},"other_config":{"d":null}} there`,
			},
		},
		"two secrets for one leaf are told apart, and not told": {
			policies: []string{
				`interfaces: [{name: eth1, 802.1x: {private-key-password: S3cretA}}]`,
				`interfaces: [{name: eth1, 802.1x: {private-key-password: S3cretB}}]`,
			},
			merged:    `interfaces: [{name: eth1, 802.1x: {private-key-password: S3cretA}}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].802.1x.private-key-password: "(hidden)" here, "(hidden)" there`},
		},
		"a secret in a section that contradicts is not told": {
			policies: []string{
				`interfaces: [{name: eth1, 802.1x: off}]`,
				`interfaces: [{name: eth1, 802.1x: {private-key-password: S3cretB}}]`,
			},
			merged:    `interfaces: [{name: eth1, 802.1x: off}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].802.1x: {"private-key-password":"(hidden)"} here, false there`},
		},
		"two values for one leaf leave the later policy out entirely": {
			policies: []string{
				`interfaces: [{name: eth1, mtu: 1400}]`,
				`{interfaces: [{name: eth2}, {name: eth1, mtu: 1500}], dns-resolver: {config: {server: [192.0.2.1]}}}`,
			},
			merged:    `interfaces: [{name: eth1, mtu: 1400}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].mtu: 1500 here, 1400 there`},
		},
		"what one policy puts down is no port of another one's bridge": {
			policies: []string{
				`interfaces: [{name: eth1, type: ethernet, state: down}]`,
				`interfaces: [{name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]`,
			},
			merged:    `interfaces: [{name: eth1, type: ethernet, state: down}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].state: "up", as a port of br1, here, "down" there`},
		},
		"a port of one policy's bond is not put down by another one": {
			policies: []string{
				`interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {port: [eth1, eth2]}}]`,
				`interfaces: [{name: eth2, state: absent}]`,
				`interfaces: [{name: eth1, state: up, mtu: 1400}]`,
			},
			merged:    `interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {port: [eth1, eth2]}}, {name: eth1, state: up, mtu: 1400}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth2].state: "absent" here, "up", as a port of bond0, there`},
		},
		"what one policy puts down is no next hop of another one's route": {
			policies: []string{
				`interfaces: [{name: eth1, type: ethernet, state: down}]`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eth1}]}`,
				`routes: {config: [{destination: 203.0.113.0/24, next-hop-interface: eth1, state: absent}]}`,
			},
			merged:    `{interfaces: [{name: eth1, type: ethernet, state: down}], routes: {config: [{destination: 203.0.113.0/24, next-hop-interface: eth1, state: absent}]}}`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].state: "up", as the next hop of route 198.51.100.0/24, here, "down" there`},
		},
		"what one policy's VLAN stands on is not put down by another one": {
			policies: []string{
				`interfaces: [{name: eth1.100, type: vlan, state: up, vlan: {base-iface: eth1, id: 100}}]`,
				`interfaces: [{name: eth1, type: ethernet, state: down}]`,
			},
			merged:    `interfaces: [{name: eth1.100, type: vlan, state: up, vlan: {base-iface: eth1, id: 100}}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].state: "down" here, "up", as the base of eth1.100, there`},
		},
		"a port of one policy's bond is no port of another one's VRF": {
			policies: []string{
				`interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {port: [eth1, eth2]}}]`,
				`interfaces: [{name: vrf0, type: vrf, state: up, vrf: {port: [eth1], route-table-id: 100}}]`,
			},
			merged:    `interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {port: [eth1, eth2]}}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[eth1].controller: "vrf0" here, "bond0" there`},
		},
		"what one policy gives to a bond another one neither gives to a bridge nor frees": {
			policies: []string{
				`interfaces: [{name: eth1, type: ethernet, state: up, controller: bond0}]`,
				`interfaces: [{name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]`,
				`interfaces: [{name: bond0, type: bond, state: up, link-aggregation: {port: [eth1]}}]`,
				`interfaces: [{name: eth1, state: up, controller: ""}]`,
			},
			merged: `interfaces: [{name: eth1, type: ethernet, state: up, controller: bond0}, {name: bond0, type: bond, state: up, link-aggregation: {port: [eth1]}}]`,
			conflicts: []string{
				`policy b conflicts with policy a at interfaces[eth1].controller: "br1" here, "bond0" there`,
				`policy d conflicts with policy a at interfaces[eth1].controller: "" here, "bond0" there`,
			},
		},
		"a bridge that goes has no ports, and two policies may add ports to one": {
			policies: []string{
				`interfaces: [{name: br1, type: linux-bridge, state: absent, bridge: {port: [{name: eth1}]}}]`,
				`interfaces: [{name: br2, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]`,
				`interfaces: [{name: br2, type: linux-bridge, state: up, bridge: {port: [{name: eth2}]}}]`,
			},
			merged: `interfaces: [{name: br1, type: linux-bridge, state: absent, bridge: {port: [{name: eth1}]}}, {name: br2, type: linux-bridge, state: up, bridge: {port: [{name: eth1}, {name: eth2}]}}]`,
		},
		"two types for one name conflict": {
			policies:  []string{`interfaces: [{name: x, type: bond}]`, `interfaces: [{name: x, type: dummy}]`},
			merged:    `interfaces: [{name: x, type: bond}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[x].type: "dummy" here, "bond" there`},
		},
		"an OVS bridge stands beside its internal port of the same name": {
			policies: []string{`interfaces: [{name: br0, type: ovs-bridge}]`, `interfaces: [{name: br0, type: ovs-interface, mtu: 9000}]`},
			merged:   `interfaces: [{name: br0, type: ovs-bridge}, {name: br0, type: ovs-interface, mtu: 9000}]`,
		},
		"bridge ports merge by name and bond ports as a set": {
			policies: []string{
				`interfaces: [{name: br, bridge: {port: [{name: a}, {name: b, stp-priority: 4}]}}, {name: bond0, link-aggregation: {port: [a, b]}}]`,
				`interfaces: [{name: br, bridge: {port: [{name: b, stp-path-cost: 9}, {name: c}]}}, {name: bond0, link-aggregation: {port: [b, c]}}]`,
			},
			merged: `interfaces: [{name: br, bridge: {port: [{name: a}, {name: b, stp-priority: 4, stp-path-cost: 9}, {name: c}]}}, {name: bond0, link-aggregation: {port: [a, b, c]}}]`,
		},
		"addresses are the same in any spelling": {
			policies: []string{
				`interfaces: [{name: e, ipv6: {address: [{ip: "2001:db8::1", prefix-length: 64}]}}]`,
				`interfaces: [{name: e, ipv6: {address: [{ip: "2001:DB8:0::1", prefix-length: "64"}, {ip: "2001:db8::1", prefix-length: 128}]}}]`,
			},
			merged: `interfaces: [{name: e, ipv6: {address: [{ip: "2001:db8::1", prefix-length: 64}, {ip: "2001:db8::1", prefix-length: 128}]}}]`,
		},
		"a route is named by destination, interface and table": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1, table-id: 254, metric: 7}, {destination: 198.51.100.0/24, next-hop-interface: f, next-hop-address: 192.0.2.9}]}`,
			},
			merged: `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1, table-id: 254, metric: 7}, {destination: 198.51.100.0/24, next-hop-interface: f, next-hop-address: 192.0.2.9}]}`,
		},
		"two gateways for one route conflict": {
			policies: []string{
				`routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
				`routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: e, next-hop-address: 192.0.2.2}]}`,
			},
			merged:    `routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
			conflicts: []string{`policy b conflicts with policy a at routes.config[0.0.0.0/0 dev e].next-hop-address: "192.0.2.2" here, "192.0.2.1" there`},
		},
		"route rules are whole": {
			policies: []string{`route-rules: {config: [{ip-from: 192.0.2.0/24, route-table: 5}]}`, `route-rules: {config: [{ip-from: 192.0.2.0/24, route-table: 6}, {route-table: 5, ip-from: 192.0.2.0/24}]}`},
			merged:   `route-rules: {config: [{ip-from: 192.0.2.0/24, route-table: 5}, {ip-from: 192.0.2.0/24, route-table: 6}]}`,
		},
		"name servers are a set in merge order": {
			policies: []string{`dns-resolver: {config: {server: [192.0.2.2, 192.0.2.1], search: [b]}}`, `dns-resolver: {config: {server: [192.0.2.3, 192.0.2.2], search: [a, b]}}`},
			merged:   `dns-resolver: {config: {server: [192.0.2.2, 192.0.2.1, 192.0.2.3], search: [b, a]}}`,
		},
		"a policy left out takes no later one with it": {
			policies:  []string{`interfaces: [{name: e, mtu: 1}]`, `interfaces: [{name: e, mtu: 2}, {name: f, mtu: 3}]`, `interfaces: [{name: f, mtu: 4}]`},
			merged:    `interfaces: [{name: e, mtu: 1}, {name: f, mtu: 4}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[e].mtu: 2 here, 1 there`},
		},
		"a scalar where another has a map conflicts": {
			policies:  []string{`interfaces: [{name: e, ipv4: {enabled: true}}]`, `interfaces: [{name: e, ipv4: 7}]`},
			merged:    `interfaces: [{name: e, ipv4: {enabled: true}}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[e].ipv4: 7 here, {"enabled":true} there`},
		},
		"a number written as text is the number": {
			policies: []string{`interfaces: [{name: e, mtu: 1500, mac-address: "aa:bb:cc:dd:ee:ff"}]`, `interfaces: [{name: e, mtu: "1500", mac-address: "AA:BB:CC:DD:EE:FF"}]`},
			merged:   `interfaces: [{name: e, mtu: 1500, mac-address: "aa:bb:cc:dd:ee:ff"}]`,
		},
		"a route that one policy takes away is no other one's": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, state: absent}]}`,
			},
			merged:    `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
			conflicts: []string{`policy b conflicts with policy a at routes.config[198.51.100.0/24 dev e].state: "absent" here, nothing there`},
		},
		"a policy replaces its own routes": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, state: absent}, {destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, metric: 5}]}`,
			},
			merged: `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, state: absent}, {destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1, metric: 5}]}`,
		},
		"routes of two VRFs are two": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, vrf-name: red}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, vrf-name: blue}]}`,
			},
			merged: `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, vrf-name: red}, {destination: 198.51.100.0/24, next-hop-interface: e, vrf-name: blue}]}`,
		},
		"a mapping of OVN that one policy takes away is no other one's": {
			policies: []string{
				`ovn: {bridge-mappings: [{localnet: net, state: absent}]}`,
				`ovn: {bridge-mappings: [{localnet: net, bridge: br}]}`,
			},
			merged:    `ovn: {bridge-mappings: [{localnet: net, state: absent}]}`,
			conflicts: []string{`policy b conflicts with policy a at ovn.bridge-mappings[net].state: nothing here, "absent" there`},
		},
		"an interface that one policy takes away is not configured by another one": {
			policies: []string{
				`interfaces: [{name: br1, type: linux-bridge, mtu: 1400}]`,
				`interfaces: [{name: br1, type: linux-bridge, state: absent}]`,
			},
			merged:    `interfaces: [{name: br1, type: linux-bridge, mtu: 1400}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[br1].state: "absent" here, nothing there`},
		},
		"two policies name an interface and one takes it away": {
			policies: []string{`interfaces: [{name: br1, type: linux-bridge}]`, `interfaces: [{name: br1, state: absent}]`},
			merged:   `interfaces: [{name: br1, type: linux-bridge, state: absent}]`,
		},
		"one priority of a VLAN cannot be mapped to two": {
			policies: []string{
				`interfaces: [{name: e.5, type: vlan, vlan: {id: 5, egress-qos-map: [{from: 1, to: 2}]}}]`,
				`interfaces: [{name: e.5, type: vlan, vlan: {id: 5, egress-qos-map: [{from: 1, to: 3}]}}]`,
			},
			merged:    `interfaces: [{name: e.5, type: vlan, vlan: {id: 5, egress-qos-map: [{from: 1, to: 2}]}}]`,
			conflicts: []string{`policy b conflicts with policy a at interfaces[e.5].vlan.egress-qos-map[1].to: 3 here, 2 there`},
		},
		"names that look like one number are two": {
			policies:  []string{`ovs-db: {external_ids: {a: "010"}}`, `ovs-db: {external_ids: {a: "10"}}`},
			merged:    `ovs-db: {external_ids: {a: "010"}}`,
			conflicts: []string{`policy b conflicts with policy a at ovs-db.external_ids.a: "10" here, "010" there`},
		},
		"both legs of a multipath route survive a policy that repeats them": {
			policies: []string{
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}, {destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.2}]}`,
				`routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.2}, {destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}]}`,
			},
			merged: `routes: {config: [{destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.1}, {destination: 198.51.100.0/24, next-hop-interface: e, next-hop-address: 192.0.2.2}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			merged, conflicts := Merge(inOrder(t, test.policies...))
			if diff := cmp.Diff(string(stateOf(t, test.merged).JSON()), string(merged.JSON())); diff != "" {
				t.Error(diff)
			}
			var lines []string
			for _, c := range conflicts {
				lines = append(lines, c.String())
			}
			if diff := cmp.Diff(test.conflicts, lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSpellingsAreSettledBeforeTheMerge: what agrees in other words is no conflict,
// and what differs in other words is one.
func TestSpellingsAreSettledBeforeTheMerge(t *testing.T) {
	for name, test := range map[string]struct {
		a, b, merged, conflict string
	}{
		"two modes of a bond, each by another name of the section": {
			a:        `interfaces: [{name: b, type: bond, bond: {mode: active-backup}}]`,
			b:        `interfaces: [{name: b, type: bond, link-aggregation: {mode: 802.3ad}}]`,
			merged:   `{"interfaces":[{"link-aggregation":{"mode":"active-backup"},"name":"b","type":"bond"}]}`,
			conflict: `policy b conflicts with policy a at interfaces[b].link-aggregation.mode: "802.3ad" here, "active-backup" there`,
		},
		"one mode of a bond, by name and by number": {
			a:      `interfaces: [{name: b, type: bond, bond: {mode: 802.3ad, ports: [p]}}]`,
			b:      `interfaces: [{name: b, type: bond, link-aggregation: {mode: "4", port: [q]}}]`,
			merged: `{"interfaces":[{"link-aggregation":{"mode":"802.3ad","port":["p","q"]},"name":"b","type":"bond"}]}`,
		},
		"a number, a switch and a MAC address in two spellings": {
			a:      `interfaces: [{name: e, mtu: 1500, mac-address: "02:00:00:00:00:0a", ipv4: {enabled: true}}]`,
			b:      `interfaces: [{name: e, mtu: "0x5dc", mac-address: "02-00-00-00-00-0A", ipv4: {enabled: "yes"}}]`,
			merged: `{"interfaces":[{"ipv4":{"enabled":true},"mac-address":"02:00:00:00:00:0a","mtu":1500,"name":"e"}]}`,
		},
		"a route to one host, with and without its length": {
			a:      `routes: {config: [{destination: 192.0.2.1, next-hop-interface: e, next-hop-address: 198.51.100.1}]}`,
			b:      `routes: {config: [{destination: 192.0.2.1/32, next-hop-interface: e, metric: 5}]}`,
			merged: `{"routes":{"config":[{"destination":"192.0.2.1/32","metric":5,"next-hop-address":"198.51.100.1","next-hop-interface":"e"}]}}`,
		},
		"a name that is a number": {
			a:      `{hostname: {config: 12345}, ovs-db: {external_ids: {count: 3}}}`,
			b:      `{hostname: {config: "12345"}, ovs-db: {external_ids: {count: "3"}}}`,
			merged: `{"hostname":{"config":"12345"},"ovs-db":{"external_ids":{"count":"3"}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			contributions := inOrder(t, test.a, test.b)
			for i, c := range contributions {
				rendering, err := Render(c.State.JSON(), 0, false)
				if err != nil {
					t.Fatal(err)
				}
				contributions[i].State = rendering.State
			}
			merged, conflicts := Merge(contributions)
			if diff := cmp.Diff(test.merged, string(merged.JSON())); diff != "" {
				t.Error(diff)
			}
			var told string
			for _, c := range conflicts {
				told += c.String()
			}
			if told != test.conflict {
				t.Errorf("conflict %q, want %q", told, test.conflict)
			}
		})
	}
}

func TestPrecedenceIsPriorityThenAgeThenName(t *testing.T) {
	at := time.Unix(1000, 0)
	e := func(mtu string) state.State { return stateOf(t, `interfaces: [{name: e, mtu: `+mtu+`}]`) }
	all := []Contribution{
		{Policy: "old", Created: at, State: e("1")},
		{Policy: "high", Priority: 1, Created: at.Add(time.Hour), State: e("2")},
		{Policy: "also-old", Created: at, State: e("3")},
	}
	merged, conflicts := Merge(all)
	if got := string(merged.JSON()); got != `{"interfaces":[{"mtu":2,"name":"e"}]}` {
		t.Error(got)
	}
	if len(conflicts) != 2 || conflicts[0].Policy != "also-old" || conflicts[1].Policy != "old" {
		t.Error(conflicts)
	}
}

// randomState draws from a small world, so that policies overlap often.
func randomState(r *rand.Rand) state.State {
	pick := func(from ...any) any { return from[r.Intn(len(from))] }
	tree := map[string]any{}
	var devices []any
	for _, name := range r.Perm(3)[:r.Intn(3)] {
		device := map[string]any{"name": []string{"e1", "e2", "br"}[name]}
		if r.Intn(3) == 0 {
			device["mtu"] = pick(1400, 1500)
		}
		if r.Intn(4) == 0 {
			device["type"] = pick("ovs-bridge", "ovs-interface", "ethernet")
		}
		if r.Intn(3) == 0 {
			device["ipv4"] = map[string]any{"enabled": pick(true, true, false), "address": []any{
				map[string]any{"ip": pick("192.0.2.1", "192.0.2.2"), "prefix-length": 24},
			}}
		}
		if r.Intn(4) == 0 {
			device["bridge"] = map[string]any{"port": []any{map[string]any{"name": pick("p1", "p2"), "vlan": map[string]any{}}, map[string]any{"name": "p3"}}}
		}
		devices = append(devices, device)
	}
	if devices != nil {
		tree["interfaces"] = devices
	}
	if r.Intn(3) == 0 {
		tree["dns-resolver"] = map[string]any{"config": map[string]any{"server": []any{pick("1.1.1.1", "9.9.9.9"), pick("1.0.0.1", "8.8.8.8")}}}
	}
	if r.Intn(3) == 0 {
		tree["routes"] = map[string]any{"config": []any{map[string]any{"destination": "0.0.0.0/0", "next-hop-interface": pick("e1", "e2"), "next-hop-address": pick("192.0.2.8", "192.0.2.9")}}}
	}
	return state.FromTree(tree)
}

func TestMergeProperties(t *testing.T) {
	for seed := range int64(3000) {
		r := rand.New(rand.NewSource(seed))
		var all []Contribution
		for i := range 1 + r.Intn(5) {
			s := randomState(r)
			all = append(all, Contribution{
				Policy: string(rune('a' + i)), Priority: int32(r.Intn(2)),
				Created: time.Unix(int64(r.Intn(2)), 0), State: s, Hash: s.Hash(),
			})
		}
		checkMerge(t, r, all)
		checkIdempotence(t, all)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkMerge(t *testing.T, r *rand.Rand, all []Contribution) {
	t.Helper()
	merged := fold(all)
	shuffled := append([]Contribution(nil), all...)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	again := fold(shuffled)
	if !merged.state.Equal(again.state) || cmp.Diff(merged.conflicts, again.conflicts) != "" {
		t.Errorf("the order of the input matters:\n%s\n%s", merged.state.JSON(), again.state.JSON())
	}
	if alone := fold(all[:1]); !alone.state.Equal(all[0].State) || alone.conflicts != nil {
		t.Errorf("one policy does not merge to itself: %s", alone.state.JSON())
	}
	if len(merged.members)+len(merged.conflicts) != len(all) {
		t.Errorf("%d merged, %d conflicts of %d", len(merged.members), len(merged.conflicts), len(all))
	}
	for _, c := range merged.conflicts {
		if c.Other == "" || c.Policy == c.Other || c.Path == "" {
			t.Errorf("a conflict without author: %+v", c)
		}
	}
}

// checkIdempotence: what was merged can be merged once more by all who took
// part. It holds where no policy names one interface twice.
func checkIdempotence(t *testing.T, all []Contribution) {
	t.Helper()
	merged := fold(all)
	twice := append([]Contribution{{Policy: "", Priority: 100, State: merged.state}}, merged.members...)
	if once := fold(twice); !once.state.Equal(merged.state) || once.conflicts != nil {
		t.Errorf("merging again changes:\n%s\n%s\n%v", merged.state.JSON(), once.state.JSON(), once.conflicts)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte(`{"interfaces":[{"name":"e","mtu":1}]}`), []byte(`{"interfaces":[{"name":"e","mtu":[1,[2]]}]}`))
	f.Add([]byte(`{"a":[[1],[1]],"b":null}`), []byte(`{"a":[[1],[2],{"x":[{}]}],"b":{}}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		a, errA := state.Parse(first)
		b, errB := state.Parse(second)
		if errA != nil || errB != nil {
			return
		}
		checkMerge(t, rand.New(rand.NewSource(1)), []Contribution{{Policy: "a", State: a}, {Policy: "b", State: b}})
	})
}

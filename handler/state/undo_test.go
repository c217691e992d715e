package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUndo(t *testing.T) {
	const eth1 = `{"name":"eth1","type":"ethernet","state":"up"`
	for name, c := range map[string]struct {
		before, from, to, current string
		keep                      bool // Nothing may be reverted.
		want                      string
	}{
		"a value goes back": {
			before:  `{"interfaces":[` + eth1 + `,"mtu":1500}]}`,
			from:    `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			current: `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			want:    `{"interfaces":[` + eth1[:len(eth1)-len(`,"type":"ethernet","state":"up"`)] + `,"state":"up","type":"ethernet","mtu":1500}]}`,
		},
		"nothing goes back that may not": {
			before:  `{"interfaces":[` + eth1 + `,"mtu":1500}]}`,
			from:    `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			current: `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			keep:    true, want: `{}`,
		},
		"a value that somebody else has changed since is left alone": {
			before:  `{"interfaces":[` + eth1 + `,"mtu":1500}]}`,
			from:    `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			current: `{"interfaces":[` + eth1 + `,"mtu":1300}]}`,
			want:    `{}`,
		},
		"where the rest still says something it wins": {
			before:  `{"interfaces":[` + eth1 + `,"mtu":1500}]}`,
			from:    `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			to:      `{"interfaces":[` + eth1 + `,"mtu":1450}]}`,
			current: `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			want:    `{}`,
		},
		"an interface that was not there goes, and its routes with it": {
			before:  `{"interfaces":[]}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up"}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1"}]}}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up"}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1"}]}}`,
			want:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"}]}`,
		},
		"a port of before that the rest gives addresses of its own does not come back": {
			before:  `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"},{"name":"eth3"}]}},{"name":"eth2","type":"ethernet","state":"up"}]}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth2"}]}},` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			to:      `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth2"}]}},{"name":"eth2","type":"ethernet","state":"up"},` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			want: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth3"}]}},
				{"name":"eth2","type":"ethernet","state":"up","controller":"","ipv4":{"enabled":false},"ipv6":{"enabled":false}}]}`,
		},
		"an interface that the rest stands on stays": {
			before:  `{"interfaces":[]}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up"},{"name":"br1.5","type":"vlan","vlan":{"base-iface":"br1","id":5}}]}`,
			to:      `{"interfaces":[{"name":"br1.5","type":"vlan","vlan":{"base-iface":"br1","id":5}}]}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up"},{"name":"br1.5","type":"vlan","state":"up","vlan":{"base-iface":"br1","id":5}}]}`,
			want:    `{}`,
		},
		"addresses of before come back, those of others stay": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24},{"ip":"192.0.2.3","prefix-length":24}]}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.3","prefix-length":24},{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
		},
		"an address goes also where somebody took the other one away": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":false}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24},{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":false}}]}`,
		},
		"addresses that somebody put in the place of the policy's are left alone": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":false}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			want:    `{}`,
		},
		"DHCP comes back without what it had handed out": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":true,"address":[{"ip":"192.0.2.1","prefix-length":24,"valid-life-time":"60sec"}]}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":true}}]}`,
		},
		"DHCP comes back with what was taken of it: nmstate has forgotten that the NIC is no default route": {
			before: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":false,"auto-gateway":false,"auto-routes":false,"auto-route-metric":300,"dhcp-client-id":"ll","forwarding":false,
				"address":[{"ip":"192.0.2.1","prefix-length":24,"valid-life-time":"60sec"}]}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"auto-route-metric":300,"forwarding":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":false,"auto-gateway":false,"auto-routes":false,"auto-route-metric":300,"dhcp-client-id":"ll"}}]}`,
		},
		"also where the policy only said DHCP, of which nmstate takes everything then": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":false,"auto-gateway":false,"auto-routes":true,"auto-route-metric":300}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":true,"auto-gateway":true,"auto-routes":true,"auto-route-metric":300}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":false,"auto-gateway":false}}]}`,
		},
		"a NIC that comes back from DHCP or from under a bridge has its routes and its rules again": {
			before: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],
				"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.254","table-id":200}]},
				"route-rules":{"config":[{"ip-from":"192.0.2.1/32","route-table":200,"priority":1000},{"ip-from":"198.51.100.1/32","route-table":201,"priority":1001}]}}`,
			from: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}],
				"route-rules":{"config":[]}}`,
			want: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],
				"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.254","table-id":200}]},
				"route-rules":{"config":[{"ip-from":"192.0.2.1/32","route-table":200,"priority":1000}]}}`,
		},
		"a route that was taken away from a NIC comes back, though another policy gives the NIC to DHCP": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}],"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.254"}]}}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}],"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","state":"absent"}]}}`,
			to:      `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true}}]}`,
			want:    `{"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.254"}]}}`,
		},
		"also where another policy speaks of the family, but for what that one says": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":false,"auto-gateway":false}}]}`,
			from:    `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			to:      `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"auto-dns":true}}]}`,
			current: `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.2","prefix-length":24}]}}]}`,
			want:    `{"interfaces":[` + eth1 + `,"ipv4":{"dhcp":true,"auto-gateway":false,"address":[]}}]}`,
		},
		"an interface that was taken away comes back as it was": {
			before:  `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1450,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1"}]}}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"}]}`,
			current: `{"interfaces":[]}`,
			want:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1450,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1"}]}}`,
		},
		"a port does not go back to a bond whose MTU is another than the rest says": {
			before:  `{"interfaces":[` + eth1 + `,"mtu":1400,"controller":"bond0"},{"name":"bond0","type":"bond","state":"up","mtu":1400}]}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}},` + eth1 + `,"mtu":1450}]}`,
			to:      `{"interfaces":[` + eth1 + `,"mtu":1450}]}`,
			current: `{"interfaces":[` + eth1 + `,"mtu":1450,"controller":"br1"},{"name":"bond0","type":"bond","state":"up","mtu":1400},{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`,
			want:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"},` + eth1 + `,"controller":"","ipv4":{"enabled":false},"ipv6":{"enabled":false}}]}`,
		},
		"a bond that stays keeps the MTU that the rest gives to its port": {
			before:  `{"interfaces":[{"name":"bond0","type":"bond","state":"up","mtu":1500,"link-aggregation":{"mode":"active-backup","port":["eth1"]}}]}`,
			from:    `{"interfaces":[{"name":"bond0","type":"bond","state":"up","mtu":1400,"link-aggregation":{"mode":"balance-rr","port":["eth1"]}}]}`,
			to:      `{"interfaces":[` + eth1 + `,"mtu":1400}]}`,
			current: `{"interfaces":[{"name":"bond0","type":"bond","state":"up","mtu":1400,"link-aggregation":{"mode":"balance-rr","port":["eth1"]}}]}`,
			want:    `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"active-backup"}}]}`,
		},
		"an interface that was taken away comes back without the port that the rest gives to another": {
			before:  `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"balance-rr","port":["eth1","eth2"]}}]}`,
			from:    `{"interfaces":[{"name":"bond0","type":"bond","state":"absent"}]}`,
			to:      `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`,
			want:    `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"balance-rr","port":["eth2"]}}]}`,
		},
		"an interface that was taken away comes back without the port that somebody gave to another": {
			before:  `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"balance-rr","port":["eth1","eth2"]}}]}`,
			from:    `{"interfaces":[{"name":"bond0","type":"bond","state":"absent"}]}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`,
			want:    `{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-aggregation":{"mode":"balance-rr","port":["eth2"]}}]}`,
		},
		"a port that is let go gets its addresses and routes back": {
			before:  `{"interfaces":[` + eth1 + `,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-interface":"eth1","next-hop-address":"192.0.2.254"}]}}`,
			from:    `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}}]}`,
			current: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth1"}]}},` + eth1 + `,"controller":"br1","ipv4":{"enabled":false}}]}`,
			want: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"},` + eth1 + `,"controller":"","ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]},"ipv6":{"enabled":false}}],` +
				`"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-interface":"eth1","next-hop-address":"192.0.2.254"}]}}`,
		},
		"routes and rules that were added go, those that were taken away come back": {
			before: `{"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth1"}]},"route-rules":{"config":[{"ip-from":"10.5.0.0/16","priority":5,"route-table":200}]}}`,
			from: `{"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth1","state":"absent"},{"destination":"10.2.0.0/16","next-hop-interface":"eth1"}]},` +
				`"route-rules":{"config":[{"priority":5,"state":"absent"},{"ip-from":"10.6.0.0/16","priority":6,"route-table":200}]}}`,
			current: `{"routes":{"config":[{"destination":"10.2.0.0/16","next-hop-interface":"eth1"}]},"route-rules":{"config":[{"ip-from":"10.6.0.0/16","priority":6,"route-table":200}]}}`,
			want: `{"routes":{"config":[{"destination":"10.2.0.0/16","next-hop-interface":"eth1","state":"absent"},{"destination":"10.1.0.0/16","next-hop-interface":"eth1"}]},` +
				`"route-rules":{"config":[{"ip-from":"10.6.0.0/16","priority":6,"route-table":200,"state":"absent"},{"ip-from":"10.5.0.0/16","priority":5,"route-table":200}]}}`,
		},
		"a route that was there before stays": {
			before:  `{"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth1"}]}}`,
			from:    `{"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth1"}]}}`,
			current: `{"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth1"}]}}`,
			want:    `{}`,
		},
		"name servers come back in their order, host name and OVS keys too": {
			before:  `{"dns-resolver":{"config":{"server":["192.0.2.2","192.0.2.1"]}},"hostname":{"config":"old"},"ovs-db":{"external_ids":{"a":"1"}}}`,
			from:    `{"dns-resolver":{"config":{"server":["192.0.2.9"],"search":["example.com"]}},"hostname":{"config":"new"},"ovs-db":{"external_ids":{"a":"2","b":"3"}}}`,
			current: `{"dns-resolver":{"config":{"server":["192.0.2.9"],"search":["example.com"]}},"hostname":{"config":"new"},"ovs-db":{"external_ids":{"a":"2","b":"3"}}}`,
			want:    `{"dns-resolver":{"config":{"server":["192.0.2.2","192.0.2.1"],"search":[]}},"hostname":{"config":"old"},"ovs-db":{"external_ids":{"a":"1","b":null}}}`,
		},
		"a key that was taken out of Open vSwitch's database comes back, and nothing for one that was not in it": {
			before:  `{"ovs-db":{"external_ids":{"a":"1","c":"3"},"other_config":{}}}`,
			from:    `{"ovs-db":{"external_ids":{"a":null,"b":null}}}`,
			current: `{"ovs-db":{"external_ids":{"c":"3"},"other_config":{}}}`,
			want:    `{"ovs-db":{"external_ids":{"a":"1","b":null}}}`,
		},
		"a key that was taken out of Open vSwitch's database and that somebody has set since is left alone": {
			before:  `{"ovs-db":{"external_ids":{"a":"1"}}}`,
			from:    `{"ovs-db":{"external_ids":{"a":null}}}`,
			current: `{"ovs-db":{"external_ids":{"a":"2"}}}`,
			want:    `{}`,
		},
		"the first of two gateways stays the first": {
			before:  `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true,"auto-route-metric":-1}}],"routes":{"running":[{"destination":"0.0.0.0/0","next-hop-address":"192.0.2.1","next-hop-interface":"eth0","metric":100,"table-id":254},{"destination":"0.0.0.0/0","next-hop-address":"192.0.2.1","next-hop-interface":"eth1","metric":101,"table-id":254}]}}`,
			from:    `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth0"}]}}]}`,
			current: `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth0"}]}},{"name":"eth0","type":"ethernet","state":"up","controller":"br0","ipv4":{"enabled":false}}]}`,
			want: `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"absent"},
				{"name":"eth0","type":"ethernet","state":"up","controller":"","ipv4":{"enabled":true,"dhcp":true,"auto-route-metric":100},"ipv6":{"enabled":false}}]}`,
		},
		"the metric of the only gateway is NetworkManager's to choose": {
			before:  `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":true,"auto-route-metric":-1}}],"routes":{"running":[{"destination":"0.0.0.0/0","next-hop-address":"192.0.2.1","next-hop-interface":"eth0","metric":100,"table-id":254},{"destination":"198.51.100.0/24","next-hop-address":"192.0.2.1","next-hop-interface":"eth1","metric":101,"table-id":254}]}}`,
			from:    `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth0"}]}}]}`,
			current: `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","bridge":{"port":[{"name":"eth0"}]}},{"name":"eth0","type":"ethernet","state":"up","controller":"br0","ipv4":{"enabled":false}}]}`,
			want: `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"absent"},
				{"name":"eth0","type":"ethernet","state":"up","controller":"","ipv4":{"enabled":true,"dhcp":true,"auto-route-metric":-1},"ipv6":{"enabled":false}}]}`,
		},
		"name servers that somebody else has changed are left alone": {
			before:  `{"dns-resolver":{"config":{"server":["192.0.2.2"]}}}`,
			from:    `{"dns-resolver":{"config":{"server":["192.0.2.9"]}}}`,
			current: `{"dns-resolver":{"config":{"server":["192.0.2.9","192.0.2.7"]}}}`,
			want:    `{}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := parsed(t, c.from)
			originals := Originals{}.Remember(State{}, from, parsed(t, c.before), nil)
			reverts := Paths(from)
			if c.keep {
				reverts = nil
			}
			got := Undo(from, parsed(t, c.to), reverts, originals, parsed(t, c.current))
			if diff := cmp.Diff(string(parsed(t, c.want).JSON()), string(got.JSON())); diff != "" {
				t.Fatalf("undo (-want +got):\n%s", diff)
			}
		})
	}
}

// The kernel gives the MTU of a bond to its ports, and each its own when it leaves.
func TestWhatAPortHasFromItsBondIsNotWhatItHadBefore(t *testing.T) {
	const eth1 = `{"name":"eth1","type":"ethernet","state":"up"`
	before := parsed(t, `{"interfaces":[`+eth1+`,"mtu":1500}]}`)
	bond := parsed(t, `{"interfaces":[{"name":"bond0","type":"bond","state":"up","mtu":1400,"link-aggregation":{"mode":"active-backup","port":["eth1"]}}]}`)
	bonded := parsed(t, `{"interfaces":[`+eth1+`,"mtu":1400,"controller":"bond0"},{"name":"bond0","type":"bond","state":"up","mtu":1400}]}`)
	alone := parsed(t, `{"interfaces":[`+eth1+`,"mtu":1400}]}`)
	originals := Originals{}.Remember(State{}, bond, before, nil).Remember(bond, alone, bonded, nil)
	got := Undo(alone, State{}, Paths(alone), originals, alone)
	want := parsed(t, `{"interfaces":[`+eth1+`,"mtu":1500}]}`)
	if diff := cmp.Diff(string(want.JSON()), string(got.JSON())); diff != "" {
		t.Errorf("undo (-want +got):\n%s", diff)
	}
}

func TestWhatAnOlderRecordDoesNotKnowIsNeverUndone(t *testing.T) {
	from := parsed(t, `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1400}],"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"br1"}]}}`)
	to := parsed(t, `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1400},{"name":"br2","type":"linux-bridge","state":"up"}],"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"br1"}]}}`)
	originals := Originals{}.Remember(from, to, State{}, nil)
	got := Undo(to, State{}, Paths(to), originals, to)
	want := `{"interfaces":[{"name":"br2","state":"absent","type":"linux-bridge"}]}`
	if diff := cmp.Diff(want, string(got.JSON())); diff != "" {
		t.Fatalf("undo (-want +got):\n%s", diff)
	}
}

func TestWhatAPolicyThatRetainsHadSetTooStaysWhoeverLeavesAfterIt(t *testing.T) {
	before := parsed(t, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"down","mtu":1500,"ipv4":{"enabled":false}}]}`)
	retains := `{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}`
	reverts := `{"name":"eth1","type":"ethernet","state":"up","mtu":1400}`
	both := parsed(t, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":1400,"ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`)
	last := parsed(t, `{"interfaces":[`+reverts+`]}`)
	originals := Originals{}.Remember(State{}, both, before, nil)
	originals = originals.Remember(both, last, both, Paths(parsed(t, `{"interfaces":[`+retains+`]}`)))
	got := Undo(last, State{}, Paths(last), originals, both)
	want := `{"interfaces":[{"mtu":1500,"name":"eth1","state":"up","type":"ethernet"}]}`
	if diff := cmp.Diff(want, string(got.JSON())); diff != "" {
		t.Fatalf("undo (-want +got):\n%s", diff)
	}
}

package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestNothingIsMissingFromAStateItself(t *testing.T) {
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) {
			desired := parse(t, string(raw))
			if missing := state.Missing(desired, desired); len(missing) > 0 {
				t.Errorf("%s", lines(missing))
			}
			if diff := state.Diff(desired, desired); len(diff) > 0 {
				t.Errorf("%s", lines(diff))
			}
			if missing := state.Missing(state.State{}, desired); len(missing) > 0 {
				t.Errorf("%s", lines(missing))
			}
		})
	}
}

// node is what a node reports after the desired states in the tests below
// were applied to it.
const node = `{"interfaces":[
 {"name":"eth1","type":"veth","state":"up","mtu":1400,"mac-address":"0E:F9:2B:28:42:D9","alt-names":[{"name":"storage"}],
  "ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.10","prefix-length":24},{"ip":"192.0.2.99","prefix-length":24}]},
  "ipv6":{"enabled":true,"dhcp":false,"autoconf":false,"address":[{"ip":"2001:db8:1::a","prefix-length":64},{"ip":"fe80::1","prefix-length":64}]}},
 {"name":"eth2","type":"ethernet","state":"up","mtu":1500,"ipv4":{"enabled":true,"dhcp":true,"auto-dns":true,"address":[{"ip":"198.51.100.7","prefix-length":24,"valid-life-time":"3600sec"}]}},
 {"name":"bond0","type":"bond","state":"up","mtu":1500,"link-aggregation":{"mode":"active-backup","options":{"miimon":140},"port":["eth3","eth4"]}},
 {"name":"eth3","type":"ethernet","state":"up"},{"name":"eth4","type":"ethernet","state":"up"},
 {"name":"bond0.100","type":"vlan","state":"up","vlan":{"base-iface":"bond0","id":100,"protocol":"802.1q"}},
 {"name":"br1","type":"linux-bridge","state":"up","bridge":{"options":{"stp":{"enabled":false},"multicast-query-interval":12501,"group-forward-mask":0},
  "port":[{"name":"eth5","vlan":{"mode":"trunk","enable-native":false,"trunk-tags":[{"id-range":{"min":2,"max":4094}}]}},{"name":"veth99"}]}},
 {"name":"eth5","type":"ethernet","state":"up"},
 {"name":"eth8","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.77","prefix-length":32,"protocol":"keepalived"}]},
  "ipv6":{"enabled":true,"address":[{"ip":"fe80::8","prefix-length":64},{"ip":"2001:db8:8::1","prefix-length":64,"valid-life-time":"86400sec"}]}},
{"name":"veth99","type":"veth","state":"up"},
 {"name":"vrf0","type":"vrf","state":"up","vrf":{"port":["eth6"],"route-table-id":100}},
 {"name":"br-ex","type":"ovs-bridge","state":"up","bridge":{"options":{"stp":{"enabled":false}},"port":[{"name":"br-ex"},{"name":"eth7"}]}},
 {"name":"br-ex","type":"ovs-interface","state":"up","mtu":1500}],
 "routes":{"running":[{"destination":"0.0.0.0/0","next-hop-interface":"eth2","next-hop-address":"198.51.100.1","metric":100,"table-id":254},
   {"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1","metric":150,"table-id":254},
   {"destination":"10.1.0.0/16","next-hop-interface":"eth6","next-hop-address":"192.0.2.2","metric":0,"table-id":100}],
  "config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1","metric":150,"table-id":254},
   {"destination":"2001:db8:a::/64","next-hop-interface":"eth1","next-hop-address":"2001:db8:1::2","metric":1024,"table-id":200},
   {"destination":"198.18.0.0/15","route-type":"blackhole","table-id":254,"next-hop-interface":"lo"}]},
 "route-rules":{"config":[{"family":"ipv4","ip-from":"192.0.2.2/32","priority":30000,"route-table":200},{"family":"ipv4","iif":"eth1","fwmark":"0x20","priority":5,"action":"prohibit"}]},
 "dns-resolver":{"running":{"server":["192.0.2.53","2001:4860:4860::8888"],"search":["example.org"]},"config":{"server":["192.0.2.53"],"search":["example.org"]}},
 "hostname":{"running":"node1","config":"node1"},
 "ovs-db":{"external_ids":{"system-id":"x","count":"3"},"other_config":{}},
 "ovn":{"bridge-mappings":[{"localnet":"physnet","bridge":"br-ex"}]}}`

func TestMissing(t *testing.T) {
	for name, test := range map[string]struct {
		desired string
		want    []string
	}{
		"an ethernet that is a veth, with numbers as text and another spelling of its addresses": {
			desired: `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","mtu":"1400","mac-address":"0e:f9:2b:28:42:d9","ipv4":{"enabled":"yes","dhcp":"no","address":[{"ip":"192.0.2.10","prefix-length":"24"}]},"ipv6":{"enabled":true,"address":[{"ip":"2001:0DB8:1:0::A","prefix-length":64}]}}]}`,
		},
		"an interface by its MAC address": {
			desired: `{"interfaces":[{"name":"first","type":"ethernet","identifier":"mac-address","mac-address":"0e:f9:2b:28:42:d9","mtu":1400}]}`,
		},
		"an interface by an alternative name": {
			desired: `{"interfaces":[{"name":"storage","mtu":1400}],"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"storage","next-hop-address":"192.0.2.1"}]}}`,
		},
		"an interface that is not there": {
			desired: `{"interfaces":[{"name":"eth9","type":"ethernet"}]}`,
			want:    []string{`interfaces[eth9]: the interface is missing`},
		},
		"an interface of another type": {
			desired: `{"interfaces":[{"name":"bond0","type":"dummy"}]}`,
			want:    []string{`interfaces[bond0].type: is bond, should be dummy`},
		},
		"an address that is not there": {
			desired: `{"interfaces":[{"name":"eth1","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.10","prefix-length":25}]}}]}`,
			want:    []string{`interfaces[eth1].ipv4.address: 192.0.2.10/25 is missing`},
		},
		"an address too many is nobody's business": {
			desired: `{"interfaces":[{"name":"eth1","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`,
		},
		"an address too many where that is not allowed": {
			desired: `{"interfaces":[{"name":"eth1","ipv4":{"enabled":true,"allow-extra-address":false,"address":[{"ip":"192.0.2.10","prefix-length":24}]}}]}`,
			want:    []string{`interfaces[eth1].ipv4.address: 192.0.2.99/24 should not be there`},
		},
		"a link-local address comes by itself": {
			desired: `{"interfaces":[{"name":"eth1","ipv6":{"enabled":true,"address":[{"ip":"fe80::77","prefix-length":64}]}}]}`,
		},
		"another MTU": {
			desired: `{"interfaces":[{"name":"eth1","mtu":9000}]}`,
			want:    []string{`interfaces[eth1].mtu: is 1400, should be 9000`},
		},
		"another MAC address": {
			desired: `{"interfaces":[{"name":"eth1","mac-address":"0E:F9:2B:28:42:00"}]}`,
			want:    []string{`interfaces[eth1].mac-address: is 0E:F9:2B:28:42:D9, should be 0E:F9:2B:28:42:00`},
		},
		"IP that should be off": {
			desired: `{"interfaces":[{"name":"eth1","ipv4":{"enabled":false},"ipv6":{"enabled":false}}]}`,
			want: []string{
				`interfaces[eth1].ipv4.enabled: is true, should be false`,
				`interfaces[eth1].ipv6.enabled: is true, should be false`,
			},
		},
		"IP that is off and not reported": {desired: `{"interfaces":[{"name":"eth3","ipv4":{"enabled":false},"ipv6":{"enabled":false}}]}`},
		"DHCP takes what addresses the server gives": {
			desired: `{"interfaces":[{"name":"eth2","ipv4":{"enabled":true,"dhcp":true,"auto-dns":true,"address":[{"ip":"198.51.100.200","prefix-length":24}]}}]}`,
		},
		"DHCP that is not on": {
			desired: `{"interfaces":[{"name":"eth1","ipv4":{"enabled":true,"dhcp":true}}]}`,
			want:    []string{`interfaces[eth1].ipv4.dhcp: is false, should be true`},
		},
		"a switch of DHCP that is the other way": {
			desired: `{"interfaces":[{"name":"eth2","ipv4":{"enabled":true,"dhcp":true,"auto-dns":false}}]}`,
			want:    []string{`interfaces[eth2].ipv4.auto-dns: is true, should be false`},
		},
		"write-only keys": {
			desired: `{"interfaces":[{"name":"eth1","identifier":"name","copy-mac-from":"eth2","wait-ip":"any","profile-name":"x","description":"storage","802.1x":{"identity":"x","password":"y"},"lldp":{"enabled":true}}]}`,
		},
		"scripts that are not there, and one that is not to be there": {
			desired: `{"interfaces":[{"name":"eth1","dispatch":{"post-activation":"z","post-deactivation":""}}]}`,
			want:    []string{`interfaces[eth1].dispatch.post-activation: z is missing`},
		},
		"a bond with its mode by number and options that the kernel rounds": {
			desired: `{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"1","options":{"miimon":"141"},"ports":["eth4","eth3"]}}]}`,
		},
		"a bond in another mode, without a port": {
			desired: `{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"802.3ad","port":["eth3","eth5"]}}]}`,
			want: []string{
				`interfaces[bond0].port: eth5 is missing`,
				`interfaces[bond0].port: eth4 should not be there`,
				`interfaces[bond0].link-aggregation.mode: is active-backup, should be 802.3ad`,
			},
		},
		"a port that names its controller": {desired: `{"interfaces":[{"name":"eth3","controller":"bond0"},{"name":"eth2","controller":""}]}`},
		"a port of another controller": {
			desired: `{"interfaces":[{"name":"eth3","controller":"br1"},{"name":"eth4","controller":""}]}`,
			want: []string{
				`interfaces[eth3].controller: is bond0, should be br1`,
				`interfaces[eth4].controller: bond0 should not be there`,
			},
		},
		"a VLAN with its id as text": {desired: `{"interfaces":[{"name":"bond0.100","type":"vlan","vlan":{"base-iface":"bond0","id":"100"}}]}`},
		"a VLAN on another base with another id": {
			desired: `{"interfaces":[{"name":"bond0.100","type":"vlan","vlan":{"base-iface":"eth1","id":101}}]}`,
			want: []string{
				`interfaces[bond0.100].vlan.base-iface: is bond0, should be eth1`,
				`interfaces[bond0.100].vlan.id: is 100, should be 101`,
			},
		},
		"a bridge with a pod's port beside, an interval that was rounded and tags in another form": {
			desired: `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"options":{"stp":{"enabled":"off"},"multicast-query-interval":12500,"group-fwd-mask":0},"port":[{"name":"eth5","vlan":{"mode":"trunk","trunk-tags":[{"id":2},{"id-range":{"min":3,"max":4094}}]}}]}}]}`,
		},
		"a bridge without its port, with other tags and with STP": {
			desired: `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"options":{"stp":{"enabled":true}},"port":[{"name":"eth5","vlan":{"mode":"trunk","trunk-tags":[{"id":7}]}},{"name":"eth8","vlan":{}}]}}]}`,
			want: []string{
				`interfaces[br1].port: eth8 is missing`,
				`interfaces[br1].bridge.options.stp.enabled: is false, should be true`,
				`interfaces[br1].bridge.port[eth5].vlan.trunk-tags: is 2-4094, should be 7`,
			},
		},
		"a bridge that should have lost its port": {
			desired: `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"port":[]}}]}`,
			want:    []string{`interfaces[br1].port: eth5 should not be there`},
		},
		"the same where extra ports are allowed": {
			desired: `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"allow-extra-ports":true,"port":[]}}]}`,
		},
		"a VRF": {
			desired: `{"interfaces":[{"name":"vrf0","type":"vrf","vrf":{"port":["eth6"],"route-table-id":"100"}}],"routes":{"config":[{"destination":"10.1.0.0/16","next-hop-interface":"eth6","next-hop-address":"192.0.2.2","vrf-name":"vrf0"}]}}`,
		},
		"a VRF with another table": {
			desired: `{"interfaces":[{"name":"vrf0","type":"vrf","vrf":{"port":["eth6"],"route-table-id":101}}]}`,
			want:    []string{`interfaces[vrf0].vrf.route-table-id: is 100, should be 101`},
		},
		"an OVS bridge and the interface of the same name": {
			desired: `{"interfaces":[{"name":"br-ex","type":"ovs-bridge","bridge":{"options":{"stp":false},"port":[{"name":"br-ex"},{"name":"eth7"}]}},{"name":"br-ex","type":"ovs-interface","mtu":1500}]}`,
		},
		"interfaces that are to be absent and are": {desired: `{"interfaces":[{"name":"br9","type":"linux-bridge","state":"absent"},{"name":"bond9","type":"bond","state":"down"}]}`},
		"interfaces that are to be absent and are not": {
			desired: `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"absent"},{"name":"bond0","state":"absent"},{"name":"vrf0","type":"vrf","state":"down"}]}`,
			want: []string{
				`interfaces[br1]: the linux-bridge should not be there`,
				`interfaces[bond0]: the bond should not be there`,
				`interfaces[vrf0].state: is up, should be down`,
			},
		},
		"NICs cannot go": {desired: `{"interfaces":[{"name":"eth1","type":"ethernet","state":"absent"},{"name":"eth5","type":"ethernet","state":"down"}]}`},
		"a NIC that is to be down and keeps its addresses": {
			desired: `{"interfaces":[{"name":"eth1","type":"ethernet","state":"down"},{"name":"eth2","type":"ethernet","state":"down"}]}`,
			want:    []string{`interfaces[eth1].state: is up, should be down`, `interfaces[eth2].state: is up, should be down`},
		},
		"a NIC that is to be down has what the kernel and others give it": {desired: `{"interfaces":[{"name":"eth8","type":"ethernet","state":"down"}]}`},
		"an ignored interface":   {desired: `{"interfaces":[{"name":"eth1","state":"ignore","mtu":9000},{"name":"nobody","state":"ignore"}]}`},
		"a sparse OVN and OVSDB": {desired: `{"ovs-db":{"external_ids":{"count":3,"gone":null}},"ovn":{"bridge-mappings":[{"localnet":"physnet","bridge":"br-ex"},{"localnet":"old","state":"absent"}]}}`},
		"OVN and OVSDB that differ": {
			desired: `{"ovs-db":{"external_ids":{"system-id":null,"count":4}},"ovn":{"bridge-mappings":[{"localnet":"physnet","bridge":"br1"},{"localnet":"new","bridge":"br1"}]}}`,
			want: []string{
				`ovs-db.external_ids.count: is 3, should be 4`,
				`ovs-db.external_ids.system-id: x should not be there`,
				`ovn.bridge-mappings[physnet]: is br-ex, should be br1`,
				`ovn.bridge-mappings[new]: br1 is missing`,
			},
		},
		"a hostname": {
			desired: `{"hostname":{"config":"node2"}}`,
			want:    []string{`hostname.config: is node1, should be node2`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			missing := state.Missing(parse(t, test.desired), parse(t, node))
			if diff := cmp.Diff(test.want, lines(missing)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMissingRoutesRulesAndResolvers(t *testing.T) {
	for name, test := range map[string]struct {
		desired string
		want    []string
	}{
		"routes that are there, one without a table and metric, one with metric 0, one that leads nowhere": {
			desired: `{"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1"},{"destination":"2001:DB8:A::/64","next-hop-interface":"eth1","next-hop-address":"2001:db8:1:0::2","metric":0,"table-id":"200"},{"destination":"198.18.0.0/15","route-type":"blackhole"},{"destination":"0.0.0.0/0","next-hop-interface":"eth2","next-hop-address":"198.51.100.1","table-id":0,"metric":-1}]}}`,
		},
		"routes that differ": {
			desired: `{"routes":{"config":[{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1","metric":151},{"destination":"203.0.113.0/24","next-hop-interface":"eth2","next-hop-address":"192.0.2.1"},{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.9"},{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1","table-id":7}]}}`,
			want: []string{
				`routes.config: 203.0.113.0/24 via 192.0.2.1 dev eth1 metric 151 is missing`,
				`routes.config: 203.0.113.0/24 via 192.0.2.1 dev eth2 is missing`,
				`routes.config: 203.0.113.0/24 via 192.0.2.9 dev eth1 is missing`,
				`routes.config: 203.0.113.0/24 via 192.0.2.1 dev eth1 table 7 is missing`,
			},
		},
		"absent routes that are gone, or were only learnt": {
			desired: `{"routes":{"config":[{"state":"absent","destination":"10.9.0.0/16"},{"state":"absent","next-hop-interface":"eth2"}]}}`,
		},
		"an absent route that is still there": {
			desired: `{"routes":{"config":[{"state":"absent","next-hop-interface":"eth1","destination":"203.0.113.0/24"}]}}`,
			want:    []string{`routes.config: 203.0.113.0/24 via 192.0.2.1 dev eth1 metric 150 should not be there`},
		},
		"an absent filter beside the route that replaces what it removes": {
			desired: `{"routes":{"config":[{"state":"absent","next-hop-interface":"eth1"},{"destination":"203.0.113.0/24","next-hop-interface":"eth1","next-hop-address":"192.0.2.1"}]}}`,
		},
		"rules that are there": {
			desired: `{"route-rules":{"config":[{"ip-from":"192.0.2.2","route-table":"200"},{"iif":"eth1","fwmark":32,"action":"prohibit","priority":"5"},{"state":"absent","ip-from":"198.18.0.0/15"}]}}`,
		},
		"rules that are not, or still there": {
			desired: `{"route-rules":{"config":[{"ip-from":"192.0.2.3/32","priority":30000,"route-table":200},{"state":"absent","priority":5}]}}`,
			want: []string{
				`route-rules.config: rule 30000: from 192.0.2.3/32 lookup 200 is missing`,
				`route-rules.config: rule 5: iif eth1 prohibit should not be there`,
			},
		},
		"resolvers from anywhere, in any order and spelling": {
			desired: `{"dns-resolver":{"config":{"server":["2001:4860:4860:0:0:0:0:8888","192.0.2.53"],"search":["example.org"]}}}`,
		},
		"resolvers that are not used": {
			desired: `{"dns-resolver":{"config":{"server":["192.0.2.54"],"search":[],"options":["rotate"]}}}`,
			want: []string{
				`dns-resolver.config.server: 192.0.2.54 is missing`,
				`dns-resolver.config.search: example.org should not be there`,
				`dns-resolver.config.options: rotate is missing`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			missing := state.Missing(parse(t, test.desired), parse(t, node))
			if diff := cmp.Diff(test.want, lines(missing)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

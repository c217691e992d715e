package state_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestEverySampleIsADesiredStateAndComesOutAsItWentIn(t *testing.T) {
	for name, raw := range samples(t) {
		t.Run(name, func(t *testing.T) {
			desired, err := state.ParseDesired(raw)
			if err != nil {
				t.Fatal(err)
			}
			unchecked := parse(t, string(raw))
			if !desired.Equal(unchecked) {
				t.Error("the checked parse changed the document")
			}
			again, err := state.Parse(desired.JSON())
			if err != nil || again.Hash() != desired.Hash() {
				t.Errorf("JSON does not come back: %v", err)
			}
			if copied := state.FromTree(desired.Tree()); !copied.Equal(desired) {
				t.Error("the tree does not come back")
			}
		})
	}
}

func TestParseDesiredRefusesByName(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"a misspelt key of a bond": {
			`{"interfaces":[{"name":"bond0","type":"bond","state":"up","link-agregation":{"mode":"active-backup"}}]}`,
			[]string{`interfaces[0].bond: unknown key "link-agregation", did you mean "link-aggregation"?`},
		},
		"the same one level too deep": {
			`{"interfaces":[{"name":"bond0","type":"bond","bond":{"link-agregation":{"mode":"active-backup"}}}]}`,
			[]string{`interfaces[0].bond: unknown key "link-agregation", did you mean "link-aggregation" of interfaces[0]?`},
		},
		"a section one level too deep": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","ethernet":{"ethernet":{"speed":1000}}}]}`,
			[]string{`interfaces[0].ethernet: unknown key "ethernet": it belongs to interfaces[0]`},
		},
		"routes of an interface": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","routes":{"config":[]}}]}`,
			[]string{`interfaces[0].ethernet: unknown key "routes": it belongs to the top of the desired state`},
		},
		"a section of interfaces at the top": {
			`{"ethernet":{"speed":1000}}`,
			[]string{`unknown key "ethernet": it belongs to interfaces[]`},
		},
		"keys one level too high": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","dhcp":true}],"routes":[],"search":["a"]}`,
			[]string{
				`interfaces[0].ethernet: unknown key "dhcp": it belongs to interfaces[0].ipv4, interfaces[0].ipv6`,
				`routes: expected keys and values, found a list`,
				`unknown key "search"`,
			},
		},
		"prefixes that no address has": {
			`{"interfaces":[{"name":"eth1","ipv4":{"address":[{"ip":"192.0.2.1","prefix-length":33}]},"ipv6":{"address":[{"ip":"2001:db8::1","prefix-length":129}]}}]}`,
			[]string{
				`interfaces[0].ipv4.address[0].prefix-length: expected a whole number from 0 to 32, found 33`,
				`interfaces[0].ipv6.address[0].prefix-length: expected a whole number from 0 to 128, found 129`,
			},
		},
		"an address with its prefix": {
			`{"interfaces":[{"name":"eth1","ipv4":{"address":[{"ip":"10.0.0.3/24","prefix-length":24}]},"ipv6":{"address":[{"ip":"2001:db8::1/64","prefix-length":64}]}}]}`,
			[]string{
				`interfaces[0].ipv4.address[0].ip: expected an IPv4 address, found "10.0.0.3/24": leave /24 out and put 24 into prefix-length`,
				`interfaces[0].ipv6.address[0].ip: expected an IPv6 address, found "2001:db8::1/64": leave /64 out and put 64 into prefix-length`,
			},
		},
		"the end of a tunnel with a prefix": {
			`{"interfaces":[{"name":"a","type":"vxlan","vxlan":{"id":1,"remote":"192.0.2.1/24"}}]}`,
			[]string{`interfaces[0].vxlan.remote: expected an IP address, found "192.0.2.1/24": leave /24 out`},
		},
		"addresses of the other family": {
			`{"interfaces":[{"name":"eth1","ipv4":{"address":[{"ip":"2001:db8::1","prefix-length":24}]},"ipv6":{"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
			[]string{
				`interfaces[0].ipv4.address[0].ip: expected an IPv4 address, found "2001:db8::1"`,
				`interfaces[0].ipv6.address[0].ip: expected an IPv6 address, found "192.0.2.1"`,
			},
		},
		"networks that are none": {
			`{"routes":{"config":[{"destination":"192.0.2.0/33"}]},"route-rules":{"config":[{"ip-from":"everybody"}]}}`,
			[]string{
				`route-rules.config[0].ip-from: expected a network such as 192.0.2.0/24 or 2001:db8::/32, found "everybody"`,
				`routes.config[0].destination: expected a network such as 192.0.2.0/24 or 2001:db8::/32, found "192.0.2.0/33"`,
			},
		},
		"ids that no VLAN or VXLAN has": {
			`{"interfaces":[{"name":"a","type":"vlan","vlan":{"base-iface":"eth1","id":5000}},{"name":"b","type":"vxlan","vxlan":{"id":16777216}},{"name":"c","type":"linux-bridge","bridge":{"port":[{"name":"eth1","vlan":{"tag":4095}}]}}]}`,
			[]string{
				`interfaces[0].vlan.id: expected a whole number from 0 to 4094, found 5000`,
				`interfaces[1].vxlan.id: expected a whole number from 0 to 16777215, found 16777216`,
				`interfaces[2].bridge.port[0].vlan.tag: expected a whole number from 0 to 4094, found 4095`,
			},
		},
		"an MTU that no such link has": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","mtu":70000},{"name":"br1","type":"linux-bridge","mtu":"65536"},{"name":"lo","type":"loopback","mtu":4294967296}]}`,
			[]string{
				`interfaces[0].mtu: expected a whole number from 0 to 65535, found 70000`,
				`interfaces[1].mtu: expected a whole number from 0 to 65535, found 65536`,
				`interfaces[2].mtu: expected a whole number from 0 to 2147483647, found 4294967296`,
			},
		},
		"timers that no bridge has": {
			`{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"options":{"stp":{"forward-delay":31,"hello-time":0}}}}]}`,
			[]string{
				`interfaces[0].bridge.options.stp.forward-delay: expected a whole number from 2 to 30, found 31`,
				`interfaces[0].bridge.options.stp.hello-time: expected a whole number from 1 to 10, found 0`,
			},
		},
		"names that no interface has": {
			`{"interfaces":[{"name":"sixteen-letters-","type":"linux-bridge"},{"name":"br/1","type":"linux-bridge"}]}`,
			[]string{
				`interfaces[0].name: "sixteen-letters-" has 16 characters, and an interface's name at most 15`,
				`interfaces[1].name: "br/1" cannot be an interface's name: no blank, '/' or ':' is allowed in it`,
			},
		},
		"what nmstate writes to disk at once": {
			`{"interfaces":[{"name":"eth1","alt-names":[{"name":"uplink"}]}]}`,
			[]string{
				"interfaces[0].alt-names: is refused: nmstate keeps alternative names in /etc/systemd/network, on disk before the change is proven; name the interface by name, mac-address or pci-address",
			},
		},
		"a misspelt top-level key": {
			`{"interface":[]}`,
			[]string{`unknown key "interface", did you mean "interfaces"?`},
		},
		"a number that is none": {
			`{"interfaces":[{"name":"eth0"},{"name":"eth1","type":"ethernet","mtu":"abc"}]}`,
			[]string{`interfaces[1].mtu: expected a whole number, found "abc"`},
		},
		"a fraction": {
			`{"interfaces":[{"name":"eth1","mtu":1500.5}]}`,
			[]string{`interfaces[0].mtu: expected a whole number, found 1500.5`},
		},
		"a negative size": {
			`{"interfaces":[{"name":"eth1","mtu":-1}]}`,
			[]string{`interfaces[0].mtu: expected a whole number, found -1`},
		},
		"what nmstate must have": {
			`{"interfaces":[{"name":"a","type":"vlan","vlan":{"base-iface":"eth1"}},{"name":"b","type":"vxlan","vxlan":{"remote":"192.0.2.1"}},{"name":"c","type":"mac-vlan","mac-vlan":{}},
				{"name":"d","type":"veth","veth":{}},{"name":"e","type":"linux-bridge","bridge":{"port":[{"vlan":{"mode":"trunk","trunk-tags":[{}]}}]}},{"name":"f","ipv4":{"address":[{"ip":"192.0.2.1"}]}}]}`,
			[]string{
				`interfaces[0].vlan: id is missing`,
				`interfaces[1].vxlan: id is missing`,
				`interfaces[2].mac-vlan: base-iface is missing`,
				`interfaces[2].mac-vlan: mode is missing`,
				`interfaces[3].veth: peer is missing`,
				`interfaces[4].bridge.port[0].vlan.trunk-tags[0]: expected one of id and id-range, found 0 of them`,
				`interfaces[4].bridge.port[0]: name is missing`,
				`interfaces[5].ipv4.address[0]: prefix-length is missing`,
			},
		},
		"numbers and words that no node takes": {
			`{"interfaces":[{"name":"a","type":"vlan","vlan":{"id":70000}},{"name":"b","ipv6":{"address":[{"ip":"2001:db8::1","prefix-length":300}]}},
				{"name":"c","type":"ovs-bridge","bridge":{"options":{"stp":0}}},{"name":"d","type":"bond","bond":{"options":{"lacp_rate":"quick","miimon":4294967296}}},
				{"name":"e","state":"ignore","mtuu":1400},{"name":"f","state":"absent","identifier":"serial"}]}`,
			[]string{
				`interfaces[0].vlan.id: expected a whole number from 0 to 4094, found 70000`,
				`interfaces[1].ipv6.address[0].prefix-length: expected a whole number from 0 to 128, found 300`,
				`interfaces[2].bridge.options.stp: expected true or false, or keys and values, found 0`,
				`interfaces[3].bond.options.lacp_rate: expected one of slow, fast, found "quick"`,
				`interfaces[3].bond.options.miimon: expected a whole number from 0 to 4294967295, found 4294967296`,
				`interfaces[4]: unknown key "mtuu", did you mean "mtu"?`,
				`interfaces[5].identifier: expected one of name, mac-address, pci-address, found "serial"`,
			},
		},
		"a key by both of its names": {
			`{"interfaces":[{"name":"b","type":"bond","bond":{"mode":"0"},"link-aggregation":{"mode":"1"}}]}`,
			[]string{`interfaces[0]: "bond" and "link-aggregation" are one key, and they differ: leave one out`},
		},
		"an unknown type of interface": {
			`{"interfaces":[{"name":"br1","type":"linux-brigde"}]}`,
			[]string{`interfaces[0].type: unknown interface type "linux-brigde", did you mean "linux-bridge"?`},
		},
		"an unknown state of an interface": {
			`{"interfaces":[{"name":"br1","type":"linux-bridge","state":"upp"}]}`,
			[]string{`interfaces[0].state: expected one of up, down, absent, ignore, found "upp", did you mean "up"?`},
		},
		"a section of another type": {
			`{"interfaces":[{"name":"eth1","type":"ethernet","vlan":{"id":3}}]}`,
			[]string{`interfaces[0].ethernet: unknown key "vlan": it belongs to type vlan`},
		},
		"an unknown key where no type is given": {
			`{"interfaces":[{"name":"eth1","vlann":{"id":3}}]}`,
			[]string{`interfaces[0]: unknown key "vlann", did you mean "vlan"?`},
		},
		"the word of an older nmstate": {
			`{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"802.3ad","slaves":["eth1"]}}]}`,
			[]string{`interfaces[0].link-aggregation: unknown key "slaves", did you mean "port"?`},
		},
		"a mode that no bond has": {
			`{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"mode":"active-bakcup"}}]}`,
			[]string{`interfaces[0].link-aggregation.mode: expected one of balance-rr, active-backup, balance-xor, broadcast, 802.3ad, balance-tlb, balance-alb, lacp, found "active-bakcup", did you mean "active-backup"?`},
		},
		"an interface without a name": {
			`{"interfaces":[{"type":"dummy"}]}`,
			[]string{`interfaces[0]: name is missing`},
		},
		"a name that is a number": {
			`{"interfaces":[{"name":100}]}`,
			[]string{`interfaces[0].name: expected text, found 100: put it in quotes`},
		},
		"an object where a list is due, and a list where an object is due": {
			`{"interfaces":{"name":"eth1"},"routes":[]}`,
			[]string{`interfaces: expected a list, found keys and values`, `routes: expected keys and values, found a list`},
		},
		"an address that is none": {
			`{"interfaces":[{"name":"eth1","ipv4":{"address":[{"ip":"192.0.2.300","prefix-length":24}]}}]}`,
			[]string{`interfaces[0].ipv4.address[0].ip: expected an IPv4 address, found "192.0.2.300"`},
		},
		"a key that only the other family has": {
			`{"interfaces":[{"name":"eth1","ipv4":{"autoconf":true}}]}`,
			[]string{`interfaces[0].ipv4: unknown key "autoconf"`},
		},
		"a yes that is none": {
			`{"interfaces":[{"name":"eth1","ipv4":{"enabled":"maybe"}}]}`,
			[]string{`interfaces[0].ipv4.enabled: expected true or false, found "maybe"`},
		},
		"a route with a key of another tool": {
			`{"routes":{"config":[{"destination":"0.0.0.0/0","gateway":"192.0.2.1"}]}}`,
			[]string{`routes.config[0]: unknown key "gateway", did you mean "next-hop-address"?`},
		},
		"several mistakes at once": {
			`{"interfaces":[{"name":"eth1","mtuu":1,"ipv4":{"dchp":true}}],"dns-resolver":{"config":{"servers":["192.0.2.1"]}}}`,
			[]string{
				`dns-resolver.config: unknown key "servers", did you mean "server"?`,
				`interfaces[0].ipv4: unknown key "dchp", did you mean "dhcp"?`,
				`interfaces[0]: unknown key "mtuu", did you mean "mtu"?`,
			},
		},
		"an empty entry": {`{"interfaces":[null]}`, []string{`interfaces[0]: there is nothing in this entry`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := state.ParseDesired([]byte(test.raw))
			if err == nil {
				t.Fatal("it was accepted")
			}
			if diff := cmp.Diff(test.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Error(diff)
			}
			if got := len(state.Mistakes(err)); got != len(test.want) {
				t.Errorf("%d mistakes, want %d", got, len(test.want))
			}
		})
	}
}

func TestParseDesiredAcceptsWhatNmstateAccepts(t *testing.T) {
	for name, raw := range map[string]string{
		"nothing":                                  ``,
		"null":                                     `null`,
		"an empty document":                        `{}`,
		"numbers written as text":                  `{"interfaces":[{"name":"eth1","mtu":"1400"}],"routes":{"config":[{"metric":"-1"}]}}`,
		"words for true and false":                 `{"interfaces":[{"name":"eth1","ipv4":{"enabled":"Yes","dhcp":0}}]}`,
		"hexadecimal numbers":                      `{"route-rules":{"config":[{"fwmark":"0x20"}]}}`,
		"an absent interface with details":         `{"interfaces":[{"name":"br1","state":"absent","misspelt":1}]}`,
		"an ignored interface of any type":         `{"interfaces":[{"name":"wg0","type":"wireguard","state":"ignore"}]}`,
		"templates anywhere":                       `{"interfaces":[{"name":"{{ capture.nic.interfaces.0.name }}","mtu":"{{ var.mtu }}"}],"routes":{"config":"{{ capture.routes.routes.running }}"}}`,
		"the largest numbers":                      `{"interfaces":[{"name":"eth1","type":"ethernet","mtu":65535,"ipv4":{"address":[{"ip":"192.0.2.1","prefix-length":32}]},"ipv6":{"address":[{"ip":"2001:db8::1","prefix-length":128}]}},{"name":"fifteen-letters","type":"vlan","vlan":{"id":4094}},{"name":"lo","type":"loopback","mtu":65536},{"name":"dummy0","type":"dummy","mtu":100000}]}`,
		"names that are not the kernel's":          `{"interfaces":[{"name":"a bridge of OVS's own","type":"ovs-bridge"},{"name":"the first one","type":"ethernet","identifier":"mac-address","mac-address":"02:00:00:00:00:01"},{"name":"an alternative name of a NIC","type":"ethernet"}]}`,
		"no network at all":                        `{"routes":{"config":[{"destination":"","state":"absent"},{"destination":"192.0.2.1"}]},"route-rules":{"config":[{"ip-from":"","ip-to":"2001:db8::/32"}]}}`,
		"scalars as text where nmstate takes them": `{"description":2024,"hostname":{"config":12345},"routes":{"config":[{"next-hop-interface":100,"vrf-name":10}]},"dns-resolver":{"config":{"search":[7]}},"ovn":{"bridge-mappings":[{"localnet":9,"bridge":10}]}}`,
		"an interface that nmstate only reports":   `{"interfaces":[{"name":"wg0","type":"wireguard","state":"up","ipv4":{"enabled":true}},{"name":"team0","type":"team"}]}`,
		"a feature of ethtool as text":             `{"interfaces":[{"name":"eth1","ethtool":{"feature":{"rx-gro":"true"}}}]}`,
		"null values":                              `{"interfaces":[{"name":"eth1","mtu":null,"ipv4":null}]}`,
		"an interface without a type":              `{"interfaces":[{"name":"eth1","bridge":{"port":[]},"vlan":{"id":1}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := state.ParseDesired([]byte(raw)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParseDesiredRefusesWhatIsNoDocument(t *testing.T) {
	for name, raw := range map[string]string{
		"a list":         `[]`,
		"text":           `"interfaces"`,
		"broken JSON":    `{"interfaces":`,
		"two documents":  `{} {}`,
		"YAML by itself": "interfaces:\n- name: eth1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := state.ParseDesired([]byte(raw)); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

func TestOnlySoManyMistakesAreReported(t *testing.T) {
	raw := `{"interfaces":[` + strings.Repeat(`{"name":"eth1","mtuu":1},`, 50) + `{"name":"x"}]}`
	_, err := state.ParseDesired([]byte(raw))
	all := strings.Split(err.Error(), "\n")
	if len(all) != 21 || all[20] != "and 30 more" {
		t.Errorf("%d lines, the last %q", len(all), all[len(all)-1])
	}
}

func FuzzParseDesired(f *testing.F) {
	for _, raw := range samples(f) {
		f.Add(raw)
	}
	f.Add([]byte(`{"interfaces":[{"name":"bond0","type":"bond","link-agregation":{}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		desired, err := state.ParseDesired(raw)
		if err != nil {
			for _, mistake := range state.Mistakes(err) {
				if mistake.Message == "" || strings.Contains(mistake.Message, "\n") {
					t.Errorf("not one readable line: %q", mistake.Message)
				}
			}
			return
		}
		unchecked, err := state.Parse(raw)
		if err != nil {
			t.Fatalf("checked but not readable: %v", err)
		}
		if !desired.Equal(unchecked) || !state.FromTree(desired.Tree()).Equal(desired) {
			t.Error("something was lost on the way")
		}
		_ = state.Missing(desired, desired)
		_ = state.Report(desired)
		_ = state.Diff(desired, state.State{})
		if delta := state.Delta(desired, desired); !delta.IsEmpty() {
			t.Errorf("a delta to itself: %s", delta.JSON())
		}
	})
}

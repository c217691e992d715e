package state

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	got := WrittenPaths(Paths(parsed(t, `{
		"interfaces":[
			{"name":"br1","type":"linux-bridge","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]},
			 "bridge":{"options":{"stp":{"enabled":false}},"port":[{"name":"eth1","vlan":{}}]}},
			{"name":"eth1"}],
		"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1","next-hop-address":"192.0.2.254"},
			{"next-hop-interface":"eth2","state":"absent"}]},
		"dns-resolver":{"config":{"server":["192.0.2.53"],"search":[]}}}`)))
	want := []string{
		"interfaces[br1].bridge.options.stp.enabled", "interfaces[br1].bridge.port[eth1]",
		"interfaces[br1].ipv4.address[192.0.2.1/24]", "interfaces[br1].ipv4.enabled", "interfaces[br1].type",
		"interfaces[eth1]",
		"routes.config[198.51.100.0/24 via 192.0.2.254 dev br1]", "routes.config[absent any route dev eth2]",
		"dns-resolver.config.search", "dns-resolver.config.server[192.0.2.53]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("paths (-want +got):\n%s", diff)
	}
}

func TestLeavesHaveValuesAndNoSecrets(t *testing.T) {
	got := LeavesOf(parsed(t, `{"interfaces":[{"name":"eth1","mtu":1400,"mac-address":"02-00-00-00-00-0A","accept-all-mac-addresses":false,
		"802.1x":{"identity":"me","private-key-password":"secret"},"ipv4":{"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`))
	want := []Leaf{
		{ParsePath("interfaces[eth1].802.1x.identity"), "me"}, {ParsePath("interfaces[eth1].802.1x.private-key-password"), maskedText("interfaces[eth1].802.1x.private-key-password", "secret")},
		{ParsePath("interfaces[eth1].accept-all-mac-addresses"), "false"}, {ParsePath("interfaces[eth1].ipv4.address[192.0.2.1/24]"), ""},
		{ParsePath("interfaces[eth1].mac-address"), "02:00:00:00:00:0a"}, {ParsePath("interfaces[eth1].mtu"), "1400"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want[1].Value == "secret" {
		t.Error("the secret is shown")
	}
}

func TestOwns(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		d    Difference
		want bool
	}{
		"a whole interface is owned with every leaf":                {"interfaces[eth1]", Difference{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500", Got: "1400"}, true},
		"an interface is not owned by that of a longer name":        {"interfaces[eth10]", Difference{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500"}, false},
		"a leaf is owned by its own path":                           {"interfaces[eth1].mtu", Difference{Path: ParsePath("interfaces[eth1].mtu"), Want: "1500"}, true},
		"another leaf of the interface is not":                      {"interfaces[eth1].mtu", Difference{Path: ParsePath("interfaces[eth1].ipv4.address"), Want: "192.0.2.1/24"}, false},
		"an address of a list is owned by its entry":                {"interfaces[eth1].ipv4.address[192.0.2.1/24]", Difference{Path: ParsePath("interfaces[eth1].ipv4.address"), Want: "192.0.2.1/24"}, true},
		"another address of the list is not":                        {"interfaces[eth1].ipv4.address[192.0.2.2/24]", Difference{Path: ParsePath("interfaces[eth1].ipv4.address"), Want: "192.0.2.1/24"}, false},
		"an address that should not be there is the list's":         {"interfaces[eth1].ipv4.address[192.0.2.2/24]", Difference{Path: ParsePath("interfaces[eth1].ipv4.address"), Got: "192.0.2.1/24"}, true},
		"a missing port is owned by the entry of the bridge":        {"interfaces[br1].bridge.port[eth1]", Difference{Path: ParsePath("interfaces[br1].port"), Want: "eth1"}, true},
		"a bond's port in the older spelling is owned too":          {"interfaces[b].link-aggregation.slaves[eth1]", Difference{Path: ParsePath("interfaces[b].port"), Want: "eth1"}, true},
		"a missing route is owned by the route as it is shown":      {"routes.config[198.51.100.0/24 dev eth1]", Difference{Path: ParsePath("routes.config"), Want: "198.51.100.0/24 dev eth1"}, true},
		"a route that should have gone is owned by whoever says so": {"routes.config[absent 198.51.100.0/24 dev eth1]", Difference{Path: ParsePath("routes.config"), Got: "198.51.100.0/24 dev eth1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Owns(ParsePaths([]string{c.path}), c.d); got != c.want {
				t.Fatalf("owned: %v, want %v", got, c.want)
			}
		})
	}
}

// TestWhatDiffersHasAnOwner: whoever asks for something owns it, in every kind of
// document. What has no owner is put right though a policy says only to report it,
// and an undo takes it for its own though somebody has changed it since.
func TestWhatDiffersHasAnOwner(t *testing.T) {
	for name, desired := range map[string]string{
		"an OVS bridge, and the port of its name": `{"interfaces":[{"name":"br1","type":"ovs-bridge","state":"up","bridge":{"options":{"stp":{"enabled":true}},"port":[{"name":"br1"},{"name":"eth1","vlan":{"mode":"access","tag":5}}]}},
			{"name":"br1","type":"ovs-interface","state":"up","mtu":1400,"ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}]}`,
		"an OVS bridge that goes": `{"interfaces":[{"name":"br1","type":"ovs-bridge","state":"absent"}]}`,
		"a bond of an OVS bridge": `{"interfaces":[{"name":"br1","type":"ovs-bridge","state":"up","bridge":{"port":[{"name":"ob0","link-aggregation":{"mode":"balance-slb","port":[{"name":"eth1"},{"name":"eth2"}]}}]}}]}`,
		"an IPsec connection":     `{"interfaces":[{"name":"c","type":"ipsec","state":"up","libreswan":{"right":"192.0.2.2"}}]}`,
		"a Linux bridge":          `{"interfaces":[{"name":"br1","type":"linux-bridge","state":"up","mtu":1400,"bridge":{"options":{"stp":{"enabled":true}},"port":[{"name":"eth1"}]}}]}`,
		"a bond":                  `{"interfaces":[{"name":"br1","type":"bond","state":"up","mtu":1400,"link-aggregation":{"mode":"802.3ad","options":{"miimon":100},"port":["eth1","eth2"]}}]}`,
		"a bond in older words":   `{"interfaces":[{"name":"br1","type":"bond","state":"up","bond":{"mode":"4","options":{"miimon":"0x64"},"ports":["eth1","eth2"]}}]}`,
		"a VRF":                   `{"interfaces":[{"name":"br1","type":"vrf","state":"up","vrf":{"route-table-id":100,"ports":["eth1"]}}]}`,
		"a VLAN":                  `{"interfaces":[{"name":"br1","type":"vlan","state":"up","vlan":{"base-iface":"eth1","id":100}}]}`,
		"a VXLAN":                 `{"interfaces":[{"name":"br1","type":"vxlan","state":"up","vxlan":{"id":100,"remote":"192.0.2.2"}}]}`,
		"a MAC-VLAN":              `{"interfaces":[{"name":"br1","type":"mac-vlan","state":"up","mac-vlan":{"base-iface":"eth1","mode":"bridge","promiscuous":false}}]}`,
		"a NIC that is down":      `{"interfaces":[{"name":"br1","type":"dummy","state":"down"}]}`,
		"routes, rules, DNS, names and OVSDB": `{"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth1"}]},"route-rules":{"config":[{"ip-from":"192.0.2.0/24","route-table":200}]},
			"dns-resolver":{"config":{"server":["192.0.2.53"],"search":["a"]}},"hostname":{"config":"a"},"ovs-db":{"external_ids":{"a":"1","b":null}},"ovn":{"bridge-mappings":[{"localnet":"n","bridge":"b"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			want := parsed(t, desired)
			count := 0
			for _, current := range []string{
				`{}`,
				`{"interfaces":[{"name":"br1","type":"ovs-bridge","state":"up","bridge":{"options":{"stp":{"enabled":false}},"port":[{"name":"eth9"}]}},{"name":"br1","type":"dummy","state":"up","mtu":1500},
				{"name":"eth9","type":"ethernet","state":"up"}],"ovs-db":{"external_ids":{"b":"1"}}}`,
			} {
				for _, d := range Missing(want, parsed(t, current)) {
					count++
					if !Owns(ParsePaths(WrittenPaths(Paths(want))), d) {
						t.Errorf("%s has no owner among what is read of %q", d, Paths(want))
					}
					if !Owns(Paths(want), d) {
						t.Errorf("%s has no owner among %q", d, Paths(want))
					}
				}
			}
			if count == 0 {
				t.Error("nothing differs")
			}
		})
	}
}

func TestAPathIsReadAsItIsWritten(t *testing.T) {
	for written, want := range map[string]Path{
		"interfaces[eth1.100].ipv4.address":              {Section: "interfaces", Interface: "eth1.100", Leaf: "ipv4.address"},
		"interfaces[br1 ovs-bridge].bridge.port[a].vlan": {Section: "interfaces", Interface: "br1", Kind: "ovs-bridge", Leaf: "bridge.port", Entry: "a", Within: "vlan"},
		"interfaces[br1 ovs-bridge]":                     {Section: "interfaces", Interface: "br1", Kind: "ovs-bridge"},
		"interfaces[Wired connection]":                   {Section: "interfaces", Interface: "Wired connection"},
		"routes.config":                                  {Section: "routes", Leaf: "config"},
		"dns-resolver":                                   {Section: "dns-resolver"},
	} {
		got := ParsePath(written)
		if got != want || got.String() != written {
			t.Errorf("%s is %+v and is written %s", written, got, got)
		}
		text, err := json.Marshal(got)
		var again Path
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if err != nil || string(text) != strconv.Quote(written) || again != want {
			t.Errorf("%s is %s as JSON, which reads as %+v (%v)", written, text, again, err)
		}
	}
}

func TestAPathCoversWhatIsBelowIt(t *testing.T) {
	for name, c := range map[string]struct {
		path, other string
		want        bool
	}{
		"itself":                                {"interfaces[eth1].mtu", "interfaces[eth1].mtu", true},
		"a key of a section":                    {"dns-resolver", "dns-resolver.config.server", true},
		"a key of an interface":                 {"interfaces[eth1]", "interfaces[eth1].ipv4.enabled", true},
		"an entry of a list":                    {"interfaces[eth1].ipv4.address", "interfaces[eth1].ipv4.address[192.0.2.1/24]", true},
		"what is in an entry":                   {"interfaces[br1].bridge.port[eth1]", "interfaces[br1].bridge.port[eth1].vlan.tag", true},
		"no other entry":                        {"interfaces[br1].bridge.port[eth1]", "interfaces[br1].bridge.port[eth10]", false},
		"no list of its entry":                  {"interfaces[br1].bridge.port[eth1]", "interfaces[br1].bridge.port", false},
		"no key that begins alike":              {"interfaces[eth1].ipv4.auto", "interfaces[eth1].ipv4.auto-dns", false},
		"no interface of a longer name":         {"interfaces[eth1]", "interfaces[eth1.100].mtu", false},
		"no interface of its name and a kind":   {"interfaces[br1]", "interfaces[br1 ovs-bridge].bridge", false},
		"no section that begins alike":          {"route", "route-rules.config", false},
		"a key of a database that has brackets": {"ovs-db.external_ids.a[b]c", "ovs-db.external_ids.a[b]c", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ParsePath(c.path).Covers(ParsePath(c.other)); got != c.want {
				t.Errorf("%s covers %s: %t", c.path, c.other, got)
			}
		})
	}
}

// TestAnOlderSpellingIsOfKeysOnly: the names of interfaces are nobody's second spelling.
func TestAnOlderSpellingIsOfKeysOnly(t *testing.T) {
	owns := parsed(t, `{"interfaces":[{"name":"eth1.master","mtu":1400}],"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"eth1.master"}]}}`)
	written := ParsePaths(WrittenPaths(Paths(owns)))
	missing := Missing(owns, parsed(t, `{"interfaces":[{"name":"eth1.master","mtu":1500}]}`))
	if len(missing) != 2 {
		t.Fatalf("%v differ", missing)
	}
	for _, d := range missing {
		if !Owns(written, d) {
			t.Errorf("%s has no owner among %v", d, written)
		}
	}
}

func parsed(t testing.TB, raw string) State {
	t.Helper()
	s, err := Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

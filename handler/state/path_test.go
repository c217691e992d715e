package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPaths(t *testing.T) {
	got := Paths(parsed(t, `{
		"interfaces":[
			{"name":"br1","type":"linux-bridge","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.1","prefix-length":24}]},
			 "bridge":{"options":{"stp":{"enabled":false}},"port":[{"name":"eth1","vlan":{}}]}},
			{"name":"eth1"}],
		"routes":{"config":[{"destination":"198.51.100.0/24","next-hop-interface":"br1","next-hop-address":"192.0.2.254"},
			{"next-hop-interface":"eth2","state":"absent"}]},
		"dns-resolver":{"config":{"server":["192.0.2.53"],"search":[]}}}`))
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

func TestOwns(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		d    Difference
		want bool
	}{
		"a whole interface is owned with every leaf":                {"interfaces[eth1]", Difference{Path: "interfaces[eth1].mtu", Want: "1500", Got: "1400"}, true},
		"an interface is not owned by that of a longer name":        {"interfaces[eth10]", Difference{Path: "interfaces[eth1].mtu", Want: "1500"}, false},
		"a leaf is owned by its own path":                           {"interfaces[eth1].mtu", Difference{Path: "interfaces[eth1].mtu", Want: "1500"}, true},
		"another leaf of the interface is not":                      {"interfaces[eth1].mtu", Difference{Path: "interfaces[eth1].ipv4.address", Want: "192.0.2.1/24"}, false},
		"an address of a list is owned by its entry":                {"interfaces[eth1].ipv4.address[192.0.2.1/24]", Difference{Path: "interfaces[eth1].ipv4.address", Want: "192.0.2.1/24"}, true},
		"another address of the list is not":                        {"interfaces[eth1].ipv4.address[192.0.2.2/24]", Difference{Path: "interfaces[eth1].ipv4.address", Want: "192.0.2.1/24"}, false},
		"an address that should not be there is the list's":         {"interfaces[eth1].ipv4.address[192.0.2.2/24]", Difference{Path: "interfaces[eth1].ipv4.address", Got: "192.0.2.1/24"}, true},
		"a missing port is owned by the entry of the bridge":        {"interfaces[br1].bridge.port[eth1]", Difference{Path: "interfaces[br1].port", Want: "eth1"}, true},
		"a bond's port in the older spelling is owned too":          {"interfaces[b].link-aggregation.slaves[eth1]", Difference{Path: "interfaces[b].port", Want: "eth1"}, true},
		"a missing route is owned by the route as it is shown":      {"routes.config[198.51.100.0/24 dev eth1]", Difference{Path: "routes.config", Want: "198.51.100.0/24 dev eth1"}, true},
		"a route that should have gone is owned by whoever says so": {"routes.config[absent 198.51.100.0/24 dev eth1]", Difference{Path: "routes.config", Got: "198.51.100.0/24 dev eth1"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Owns([]string{c.path}, c.d); got != c.want {
				t.Fatalf("owned: %v, want %v", got, c.want)
			}
		})
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

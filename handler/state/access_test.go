package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestInterfaceAccess(t *testing.T) {
	one, there := parse(t, node).Interface("eth1")
	if !there || one.Type != "veth" || one.State != "up" {
		t.Fatalf("%+v", one)
	}
	if mtu, ok := one.MTU(); !ok || mtu != 1400 {
		t.Errorf("MTU %d", mtu)
	}
	if got := one.MACAddress(); got != "0E:F9:2B:28:42:D9" {
		t.Errorf("MAC %s", got)
	}
	if diff := cmp.Diff([]string{"2001:db8:1::a/64", "fe80::1/64"}, one.Addresses(state.IPv6)); diff != "" {
		t.Error(diff)
	}
	if enabled, said := one.Enabled(state.IPv4); !enabled || !said || one.Dynamic(state.IPv4) {
		t.Error("IPv4 should be static")
	}
	if _, said := one.Controller(); said {
		t.Error("it says nothing of a controller")
	}
	one.Tree()["mtu"] = "changed"
	if mtu, _ := one.MTU(); mtu != 1400 {
		t.Error("Tree is not a copy")
	}
}

func TestPortsAndBases(t *testing.T) {
	all := map[string]state.Interface{}
	for _, name := range []string{"ovs-bridge", "linux-bridge", "bond", "vrf", "virtual", "vlan-over-bond", "bond-by-number"} {
		for _, one := range parse(t, string(samples(t)[name])).Interfaces() {
			if _, known := all[one.Name]; !known {
				all[one.Name] = one
			}
		}
	}
	for name, ports := range map[string][]string{
		"br-ex": {"eth1", "br-ex", "eth2", "eth3"},
		"br1":   {"eth1", "eth2", "eth3"},
		"bond0": {"eth1", "eth2"},
		"bond1": {"eth1", "eth2"},
		"vrf0":  {"eth1"},
		"hsr0":  {"eth1", "eth2"},
		"eth1":  nil,
	} {
		if diff := cmp.Diff(ports, all[name].Ports()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, base := range map[string]string{
		"bond0.100": "bond0", "vxlan0": "eth1", "mv0": "eth1", "mvt0": "eth1", "iv0": "eth1",
		"macsec0": "eth1", "ib0.8001": "ib0", "tun0": "eth1", "dummy0": "",
	} {
		if got := all[name].BaseInterface(); got != base {
			t.Errorf("%s stands on %q, want %q", name, got, base)
		}
	}
	if id, _ := all["bond0.100"].VLANID(); id != 100 {
		t.Errorf("VLAN id %d", id)
	}
	legacy := parse(t, `{"interfaces":[{"name":"bond0","type":"bond","link-aggregation":{"slaves":["eth8"]}}]}`)
	if got := legacy.Interfaces()[0].Ports(); len(got) != 1 || got[0] != "eth8" {
		t.Errorf("ports of the older spelling: %v", got)
	}
}

func TestRoutesAndResolvers(t *testing.T) {
	current := parse(t, node)
	if routes := current.RunningRoutes(); !routes[0].IsDefault() || routes[0].IsIPv6() || routes[0].Metric != 100 {
		t.Errorf("%+v", routes[0])
	}
	if diff := cmp.Diff([]string{"192.0.2.53", "2001:4860:4860::8888"}, current.RunningDNSServers()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(state.DNS{Servers: []string{"192.0.2.53"}, Search: []string{"example.org"}}, current.DNS()); diff != "" {
		t.Error(diff)
	}
	onLink := parse(t, `{"routes":{"config":[{"destination":"2001:DB8::1","next-hop-interface":"eth1","next-hop-address":"::","table-id":0,"metric":-1}]}}`)
	if got := onLink.Routes()[0].String(); got != "2001:db8::1/128 dev eth1" {
		t.Error(got)
	}
}

func TestFromTreeTakesWhatGoWrites(t *testing.T) {
	made := state.FromTree(map[string]any{
		"interfaces": []map[string]any{{"name": "eth1", "mtu": 1500, "on": true, "ratio": 0.5, "tags": []string{"a"}}},
	})
	want := parse(t, `{"interfaces":[{"name":"eth1","mtu":1500,"on":true,"ratio":0.5,"tags":["a"]}]}`)
	if !made.Equal(want) || made.Hash() != want.Hash() {
		t.Errorf("%s", made.JSON())
	}
	if len(made.Interfaces()) != 1 {
		t.Error("its interfaces cannot be read")
	}
}

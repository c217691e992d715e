package state_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// interfaces of the sample report, by their place in it.
const (
	loopback = iota
	podVeth
	primary
	secondary
	bridge
)

func TestDiffOfTwoReports(t *testing.T) {
	before := parse(t, string(samples(t)["report-node1"]))
	for name, test := range map[string]struct {
		value any
		path  []any
		want  []string
	}{
		"a lifetime that ran on": {
			value: "12sec", path: []any{"interfaces", primary, "ipv4", "address", 0, "valid-life-time"},
		},
		"a timer that ran on": {
			value: 1, path: []any{"interfaces", bridge, "bridge", "options", "gc-timer"},
		},
		"a pod's interface": {
			value: 9000, path: []any{"interfaces", podVeth, "mtu"},
		},
		"the metric that NetworkManager chose for a learnt route": {
			value: 102, path: []any{"routes", "running", 0, "metric"},
		},
		"an MTU": {
			value: 1400, path: []any{"interfaces", primary, "mtu"},
			want: []string{`interfaces[eth0].mtu: is 1400, should be 1500`},
		},
		"an address": {
			value: "192.0.2.11", path: []any{"interfaces", primary, "ipv4", "address", 0, "ip"},
			want: []string{
				`interfaces[eth0].ipv4.address[192.0.2.10/24].ip: 192.0.2.10 is missing`,
				`interfaces[eth0].ipv4.address[192.0.2.10/24].prefix-length: 24 is missing`,
				`interfaces[eth0].ipv4.address[192.0.2.11/24].ip: 192.0.2.11 should not be there`,
				`interfaces[eth0].ipv4.address[192.0.2.11/24].prefix-length: 24 should not be there`,
			},
		},
		"the name of an interface": {
			value: "eth9", path: []any{"interfaces", secondary, "name"},
			want: []string{
				`interfaces[eth1]: the interface is missing`,
				`interfaces[eth9]: the interface should not be there`,
			},
		},
		"the next hop of the default route": {
			value: "192.0.2.2", path: []any{"routes", "running", 0, "next-hop-address"},
			want: []string{
				`routes.running[0.0.0.0/0 via 192.0.2.1 dev eth0]: 0.0.0.0/0 via 192.0.2.1 dev eth0 is missing`,
				`routes.running[0.0.0.0/0 via 192.0.2.2 dev eth0]: 0.0.0.0/0 via 192.0.2.2 dev eth0 should not be there`,
			},
		},
		"the order of name servers": {
			value: []any{"192.0.2.2", "192.0.2.1"}, path: []any{"dns-resolver", "running", "server"},
			want: []string{`dns-resolver.running.server: is 192.0.2.2, 192.0.2.1, should be 192.0.2.1`},
		},
		"the state of an interface": {
			value: "down", path: []any{"interfaces", secondary, "state"},
			want: []string{`interfaces[eth1].state: is down, should be up`},
		},
		"a key that is gone": {
			path: []any{"interfaces", bridge, "ipv4"},
			want: []string{
				`interfaces[br1].ipv4.address[192.0.2.30/24].ip: 192.0.2.30 is missing`,
				`interfaces[br1].ipv4.address[192.0.2.30/24].prefix-length: 24 is missing`,
				`interfaces[br1].ipv4.dhcp: false is missing`,
				`interfaces[br1].ipv4.enabled: true is missing`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := changed(t, before, test.value, test.path...)
			if diff := cmp.Diff(test.want, lines(state.Diff(before, after))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// On a node of kind NetworkManager 1.52 had only observed eth0 before.
func TestAnAddressOfTheKernelThatNetworkManagerMadeAnewIsTheSame(t *testing.T) {
	reported := func(protocol string) state.State {
		return parse(t, `{"interfaces":[{"name":"eth0","type":"ethernet","state":"up","ipv6":{"enabled":true,
			"address":[{"ip":"fe80::42:acff:fe11:4","prefix-length":64`+protocol+`}]}}]}`)
	}
	if diff := lines(state.Diff(reported(`,"protocol":"kernel_ll"`), reported(""))); diff != nil {
		t.Error(diff)
	}
	want := []string{"interfaces[eth0].ipv6.address[fe80::42:acff:fe11:4/64].protocol: keepalived is missing"}
	if diff := cmp.Diff(want, lines(state.Diff(reported(`,"protocol":"keepalived"`), reported("")))); diff != "" {
		t.Error(diff)
	}
}

// A bridge on the lab, after a power cut in the middle of a trial.
func TestALinkLocalAddressOfAnotherMACIsNoDifferenceAfterABoot(t *testing.T) {
	bridge := func(addresses string) state.State {
		return parse(t, `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","ipv6":{"enabled":true,"address":[`+addresses+`]}}]}`)
	}
	const was, is = `{"ip":"fe80::e883:63ff:fefb:bad7","prefix-length":64`, `{"ip":"fe80::cc98:a2ff:fe6d:a5fd","prefix-length":64}`
	missing := []string{
		"interfaces[br0].ipv6.address[fe80::e883:63ff:fefb:bad7/64].ip: fe80::e883:63ff:fefb:bad7 is missing",
		"interfaces[br0].ipv6.address[fe80::e883:63ff:fefb:bad7/64].prefix-length: 64 is missing",
		"interfaces[br0].ipv6.address[fe80::e883:63ff:fefb:bad7/64].protocol: keepalived is missing",
	}
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"another one came":      {before: was + "}", after: is},
		"none came (yet)":       {before: was + "}", want: missing[:2]},
		"it was somebody's own": {before: was + `,"protocol":"keepalived"}`, after: is, want: missing},
		"one that is the same":  {before: was + "}", after: was + "}"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, lines(state.DiffAfterBoot(bridge(test.before), bridge(test.after)))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff(missing[:2], lines(state.Diff(bridge(was+"}"), bridge(is)))); diff != "" {
		t.Errorf("without a boot: %s", diff)
	}
}

// A bridge on the lab, whose change switched IPv6 off. It had been made with a MAC address of
// its own, and got that of its port.
func TestALinkLocalAddressOfAMACThatABridgeHadNoMoreDoesNotComeBack(t *testing.T) {
	const (
		own, old = `{"ip":"fe80::aa:ff:fe00:1","prefix-length":64}`, `{"ip":"fe80::b032:daff:fe3d:6da4","prefix-length":64}`
		lost     = "interfaces[br0].ipv6.address[%s/64].ip: %[1]s is missing"
		lost64   = "interfaces[br0].ipv6.address[%s/64].prefix-length: 64 is missing"
	)
	bridge := func(mac string, addresses ...string) state.State {
		return parse(t, `{"interfaces":[{"name":"br0","type":"linux-bridge","state":"up","mac-address":"`+mac+`","ipv6":{"enabled":true,"address":[`+strings.Join(addresses, ",")+`]}}]}`)
	}
	missing := func(addresses ...string) (all []string) {
		for _, a := range addresses {
			all = append(all, fmt.Sprintf(lost, a), fmt.Sprintf(lost64, a))
		}
		return all
	}
	const mac = "02:AA:00:00:00:01"
	for name, test := range map[string]struct {
		before, after state.State
		want          []string
	}{
		"its own is back":         {before: bridge(mac, own, old), after: bridge(mac, own)},
		"its own is not (yet)":    {before: bridge(mac, own, old), after: bridge(mac), want: missing("fe80::aa:ff:fe00:1", "fe80::b032:daff:fe3d:6da4")},
		"its own is lost":         {before: bridge(mac, own, old), after: bridge(mac, old), want: missing("fe80::aa:ff:fe00:1")},
		"another one came":        {before: bridge(mac, old), after: bridge(mac, `{"ip":"fe80::200:ff:fe00:0","prefix-length":64}`)},
		"another than its own":    {before: bridge(mac, own), after: bridge(mac, old), want: missing("fe80::aa:ff:fe00:1")},
		"nobody knows its MAC":    {before: bridge("", own, old), after: bridge("", own), want: missing("fe80::b032:daff:fe3d:6da4")},
		"one that a person chose": {before: bridge(mac, own, `{"ip":"fe80::5","prefix-length":64}`), after: bridge(mac, own), want: missing("fe80::5")},
		"somebody's own protocol": {
			before: bridge(mac, own, strings.Replace(old, "}", `,"protocol":"keepalived"}`, 1)), after: bridge(mac, own),
			want: append(missing("fe80::b032:daff:fe3d:6da4"), "interfaces[br0].ipv6.address[fe80::b032:daff:fe3d:6da4/64].protocol: keepalived is missing"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, lines(state.DiffAfterRollback(test.before, test.after))); diff != "" {
				t.Error(diff)
			}
		})
	}
	if diff := cmp.Diff(missing("fe80::b032:daff:fe3d:6da4"), lines(state.Diff(bridge(mac, own, old), bridge(mac, own)))); diff != "" {
		t.Errorf("without a rollback: %s", diff)
	}
}

// The internal port of an Open vSwitch bridge in the VM, whose change gave it another address.
// A device is given the metric that it had, so that its routes come before those of others
// again: its profile says nothing of it, and compares as before.
func TestDiffAfterRollbackLeavesOutMetricsOfTheMoment(t *testing.T) {
	node := func(auto, prefix, metric string) state.State {
		return parse(t, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up","ipv4":{"enabled":true,"auto-route-metric":`+auto+`,"prefix-route-metric":`+prefix+`}}],
			"routes":{"config":[{"destination":"0.0.0.0/0","next-hop-address":"192.0.2.1","next-hop-interface":"eth1","metric":`+metric+`}]}}`)
	}
	for name, test := range map[string]struct {
		before, after state.State
		same          bool
	}{
		"it was given one":               {node("-1", "-1", "100"), node("100", "100", "100"), true},
		"NetworkManager chose another":   {node("-1", "-1", "100"), node("-1", "-1", "102"), true},
		"its profile names another":      {node("50", "50", "50"), node("100", "100", "100"), false},
		"its profile names one no more":  {node("50", "50", "50"), node("-1", "-1", "100"), false},
		"a route of its own has another": {node("50", "50", "300"), node("50", "50", "301"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(state.DiffAfterRollback(test.before, test.after)); (len(got) == 0) != test.same {
				t.Errorf("DiffAfterRollback() = %q, want the same: %v", got, test.same)
			}
		})
	}
}

func TestOpenVSwitchDrawsTheMACAddressOfAnInternalPortAtEachActivation(t *testing.T) {
	const (
		drawn, again = "9A:16:1C:86:B6:92", "66:18:C7:7D:91:09"
		given        = "00:16:1C:86:B6:92"
		ll, another  = "fe80::9816:1cff:fe86:b692", "fe80::6418:c7ff:fe7d:9109"
	)
	port := func(kind, mac, linkLocal string) state.State {
		return parse(t, `{"interfaces":[{"name":"ovs0","type":"`+kind+`","state":"up","mac-address":"`+mac+`","ipv6":{"enabled":true,"address":[{"ip":"`+linkLocal+`","prefix-length":64}]}}]}`)
	}
	changed := func(was, is string) []string {
		return []string{"interfaces[ovs0].mac-address: is " + strings.ToLower(is) + ", should be " + strings.ToLower(was)}
	}
	for name, test := range map[string]struct {
		before, after state.State
		want          []string
	}{
		"it is drawn anew, and an address is made of it": {before: port("ovs-interface", drawn, ll), after: port("ovs-interface", again, another)},
		"the card's is lost":                             {before: port("ovs-interface", given, ll), after: port("ovs-interface", again, ll), want: changed(given, again)},
		"that of a dummy":                                {before: port("dummy", drawn, ll), after: port("dummy", again, ll), want: changed(drawn, again)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, lines(state.DiffAfterRollback(test.before, test.after))); diff != "" {
				t.Error(diff)
			}
		})
	}
	lost := state.DiffAfterRollback(port("ovs-interface", drawn, ll), parse(t, `{"interfaces":[{"name":"ovs0","type":"ovs-interface","state":"up","mac-address":"`+again+`","ipv6":{"enabled":true,"address":[]}}]}`))
	if len(lost) == 0 {
		t.Error("a link-local address in whose place none came is no difference")
	}
}

// A DHCP server leases by the MAC address.
func TestAnInternalPortOfOpenVSwitchHasAnotherLeaseWithAnotherMACAddress(t *testing.T) {
	port := func(mac, ipv4 string) state.State {
		return parse(t, `{"interfaces":[{"name":"ovs0","type":"ovs-interface","state":"up","mac-address":"`+mac+`","ipv4":`+ipv4+`}]}`)
	}
	leased := func(dhcp, addresses string) string {
		return `{"enabled":true,"dhcp":` + dhcp + `,"address":[` + addresses + `]}`
	}
	const (
		drawn, again = "9A:16:1C:86:B6:92", "66:18:C7:7D:91:09"
		one, other   = `{"ip":"192.0.2.220","prefix-length":24}`, `{"ip":"192.0.2.221","prefix-length":24}`
		static       = `{"ip":"192.0.2.9","prefix-length":24}`
	)
	had := port(drawn, leased("true", one))
	for name, test := range map[string]struct {
		before, after state.State
		lost          bool
	}{
		"it is leased another address":                        {had, port(again, leased("true", other)), false},
		"with the same MAC address it is leased the same one": {had, port(drawn, leased("true", other)), true},
		"it has no lease any more":                            {had, port(again, leased("true", "")), true},
		"it asks for none any more":                           {had, port(again, leased("false", other)), true},
		"a static address beside the lease is lost":           {port(drawn, leased("true", one+","+static)), port(again, leased("true", other)), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(state.DiffAfterRollback(test.before, test.after)); (len(got) > 0) != test.lost {
				t.Errorf("DiffAfterRollback() = %q, want a difference: %v", got, test.lost)
			}
		})
	}
}

// A MAC-VLAN, a bond with a port, and NICs, of which somebody has changed one.
func TestABootDrawsTheMACAddressOfWhatIsMadeAnew(t *testing.T) {
	node := func(mac, bond, nic string) state.State {
		return parse(t, `{"interfaces":[{"name":"mac1","type":"mac-vlan","state":"up","mac-address":"`+mac+`"},
			{"name":"bond1","type":"bond","state":"up","mac-address":"`+bond+`"},
			{"name":"eth1","type":"ethernet","state":"up","controller":"bond1","mac-address":"`+bond+`","permanent-mac-address":"02:00:00:00:00:01"},
			{"name":"eth2","type":"ethernet","state":"up","mac-address":"`+nic+`","permanent-mac-address":"02:00:00:00:00:02"}]}`)
	}
	before := node("02:00:00:00:00:0A", "02:00:00:00:00:01", "02:00:00:00:00:02")
	after := node("02:00:00:00:00:0B", "02:00:00:00:00:03", "02:00:00:00:00:04")
	const nic = "interfaces[eth2].mac-address: is 02:00:00:00:00:04, should be 02:00:00:00:00:02"
	if diff := cmp.Diff([]string{nic}, lines(state.DiffAfterBoot(before, after))); diff != "" {
		t.Error(diff)
	}
	if got := lines(state.Diff(before, after)); len(got) != 4 {
		t.Errorf("without a boot: %q", got)
	}
}

// Each is what NetworkManager reported on the lab after a rollback, of a NIC
// that it had only observed before.
func TestAProfileThatSaysNothingIsNoDifference(t *testing.T) {
	before := parse(t, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up",
		"ipv4":{"enabled":true,"address":[{"ip":"203.0.113.5","prefix-length":24}]},
		"ipv6":{"enabled":true,"address":[{"ip":"2001:db8:1::5","prefix-length":64}]}}]}`)
	for name, test := range map[string]struct {
		ipv4, ipv6, more string
		want             []string
	}{
		"what a profile means that says nothing": {
			ipv4: `,"dhcp":false,"auto-route-metric":-1,"prefix-route-metric":-1`,
			ipv6: `,"dhcp":false,"autoconf":false,"addr-gen-mode":"eui64","auto-route-metric":-1`,
			more: `,"identifier":"mac-address","lldp":{"enabled":false},"wait-ip":"any"`,
		},
		"what a trial has left behind": {
			ipv4: `,"dhcp":true`, more: `,"lldp":{"enabled":true}`,
			want: []string{"interfaces[eth1].ipv4.dhcp: true should not be there", "interfaces[eth1].lldp.enabled: true should not be there"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := parse(t, `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up"`+test.more+`,
				"ipv4":{"enabled":true,"address":[{"ip":"203.0.113.5","prefix-length":24}]`+test.ipv4+`},
				"ipv6":{"enabled":true,"address":[{"ip":"2001:db8:1::5","prefix-length":64},
					{"ip":"fe80::1","prefix-length":64,"protocol":"kernel_ll"}]`+test.ipv6+`}}]}`)
			if diff := cmp.Diff(test.want, lines(state.Diff(before, after))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package host_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

func TestWhatNmstateRefusesChangesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ desired, want string }{
		"a NIC that is not there":             {"interfaces: [{name: eth9, type: ethernet, state: up}]", "Ethernet interface eth9 does not exists"},
		"a veth without a peer":               {"interfaces: [{name: veth9, type: veth, state: up}]", "peer name is required"},
		"a VLAN without a base":               {"interfaces: [{name: eth9.1, type: vlan, state: up, vlan: {base-iface: eth9, id: 1}}]", "its parent eth9 is not there"},
		"a VRF without a table":               {"interfaces: [{name: vrf9, type: vrf, state: up, vrf: {port: []}}]", "Route table ID"},
		"a bond without a mode":               {"interfaces: [{name: bond9, type: bond, state: up, link-aggregation: {port: []}}]", "Bond mode is mandatory"},
		"a port that is not there":            {"interfaces: [{name: br9, type: linux-bridge, state: up, bridge: {port: [{name: eth9}]}}]", "holding unknown port eth9"},
		"a controller that is not there":      {"interfaces: [{name: eth1, type: ethernet, state: up, controller: br9}]", "desired controller br9 not found"},
		"a circle":                            {"interfaces: [{name: br8, type: linux-bridge, bridge: {port: [{name: br9}]}}, {name: br9, type: linux-bridge, bridge: {port: [{name: br8}]}}]", "circle"},
		"a type that is not modelled":         {"interfaces: [{name: x, type: macsec, state: up, macsec: {base-iface: eth1, mka-cak: aa, mka-ckn: bb, encrypt: true, port: 1, validation: strict, send-sci: true}}]", "macsec"},
		"an MTU that the driver does not do":  {"interfaces: [{name: eth1, type: ethernet, state: up, mtu: 9001}]", "bigger than maximum allowed MTU 9000"},
		"an MTU that IPv6 does not do":        {"interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1200, ipv6: {enabled: true}}]", "MTU should be >= 1280"},
		"a route by an interface that is not": {"routes: {config: [{destination: 10.0.0.0/8, next-hop-interface: eth9, next-hop-address: 192.0.2.1}]}", "next hop interface eth9 not found"},
		"a route by one without the family":   {"routes: {config: [{destination: 10.0.0.0/8, next-hop-interface: eth1, next-hop-address: 192.0.2.1}]}", "has been marked as IPv4 disabled"},
		"a port of two bridges": {`interfaces: [{name: br8, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}},
			{name: br9, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]`, "Port eth1 is overbooked"},
		"an address on a port": {`interfaces: [{name: br9, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}},
			{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8}]}}]`, "cannot have IP enabled as it is attached to controller br9"},
		"a port that its bridge does not list": {`interfaces: [{name: br9, type: linux-bridge, state: up, bridge: {port: []}},
			{name: eth1, type: ethernet, state: up, controller: br9}]`, "not listed in port list"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, labNode())
			revision := n.host.Revision()
			err := n.apply(t, desired(t, test.desired))
			if !errors.Is(err, backend.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if n.host.Revision() != revision || len(n.host.Checkpoints()) > 0 {
				t.Error("it changed something")
			}
		})
	}
}

// after are steps and what the picture has then, or has not ("-").
func TestWhatAnApplyTakesAlong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps []string
		want  []string
	}{
		"a bridge takes a NIC that another bridge had": {
			steps: []string{
				"interfaces: [{name: br8, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]",
				"interfaces: [{name: br9, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}]",
			},
			want: []string{"link br8 linux-bridge up mtu 1500", "link eth1 ethernet up mtu 1500 controller br9"},
		},
		"what stands on a bridge goes with it": {
			steps: []string{
				"interfaces: [{name: br8, type: linux-bridge, state: up, bridge: {port: [{name: eth1}]}}, {name: br8.5, type: vlan, state: up, vlan: {base-iface: br8, id: 5}}]",
				"interfaces: [{name: br8, type: linux-bridge, state: absent}]",
			},
			want: []string{"-link br8", "link eth1 ethernet up mtu 1500"},
		},
		"a port that the list lacks is let go": {
			steps: []string{
				"interfaces: [{name: bond9, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth1, eth2]}}]",
				"interfaces: [{name: bond9, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth2]}}]",
			},
			want: []string{"link bond9 bond up mtu 1500 mode active-backup", "link eth2 ethernet up mtu 1500 controller bond9", "-eth1 ethernet up mtu 1500 controller"},
		},
		"a bond gives its ports its MTU, and who leaves has his own again": {
			steps: []string{
				"interfaces: [{name: bond9, type: bond, state: up, mtu: 1400, link-aggregation: {mode: active-backup, port: [eth1, eth2]}}]",
				"interfaces: [{name: bond9, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth2]}}]",
			},
			want: []string{"link eth2 ethernet up mtu 1400 controller bond9", "link eth1 ethernet up mtu 1500"},
		},
		"the ports of a bond that goes have their own MTU again": {
			steps: []string{
				"interfaces: [{name: bond9, type: bond, state: up, mtu: 1400, link-aggregation: {mode: active-backup, port: [eth1, eth2]}}]",
				"interfaces: [{name: bond9, type: bond, state: absent}]",
			},
			want: []string{"-link bond9", "link eth1 ethernet up mtu 1500", "link eth2 ethernet up mtu 1500"},
		},
		"an address list is replaced, other keys stay": {
			steps: []string{
				"interfaces: [{name: eth1, type: ethernet, state: up, mtu: 1400, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8}, {ip: 10.0.0.2, prefix-length: 8}]}}]",
				"interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.3, prefix-length: 8}]}}]",
			},
			want: []string{"address eth1 10.0.0.3/8", "-10.0.0.1/8", "link eth1 ethernet up mtu 1400"},
		},
		"a route that is absent goes, others stay": {
			steps: []string{
				`{interfaces: [{name: eth1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8}]}}],
				 routes: {config: [{destination: 11.0.0.0/8, next-hop-interface: eth1, next-hop-address: 10.0.0.9}, {destination: 12.0.0.0/8, next-hop-interface: eth1, next-hop-address: 10.0.0.9}]}}`,
				"routes: {config: [{destination: 11.0.0.0/8, next-hop-interface: eth1, state: absent}]}",
			},
			want: []string{"-11.0.0.0/8", "route 12.0.0.0/8 via 10.0.0.9 dev eth1 metric 0"},
		},
		"a global name server hides that of a profile": {
			steps: []string{"dns-resolver: {config: {server: [10.0.0.53], search: [a.example]}}"},
			want:  []string{"dns server 10.0.0.53", "dns search a.example", "-dns server 192.0.2.1"},
		},
		"search domains alone keep the servers": {
			steps: []string{"dns-resolver: {config: {search: [a.example]}}"},
			want:  []string{"dns server 192.0.2.1", "dns search a.example"},
		},
		"no resolver at all takes the profile's, too": {
			steps: []string{"dns-resolver: {config: {}}"},
			want:  []string{"-dns server"},
		},
		"the name server of a NIC that becomes a port stays": {
			steps: []string{bridgeOnEth0},
			want:  []string{"dns server 192.0.2.1", "route 0.0.0.0/0 via 192.0.2.1 dev br1 metric 0", "-dev eth0"},
		},
		"what is to be down and is not there is no matter": {
			steps: []string{"interfaces: [{name: eth9, type: ethernet, state: down}, {name: br9, type: linux-bridge, state: down}]"},
			want:  []string{"-eth9", "-br9"},
		},
		"a VLAN's id changes by a new link": {
			steps: []string{
				"interfaces: [{name: v, type: vlan, state: up, vlan: {base-iface: eth1, id: 5}}]",
				"interfaces: [{name: v, type: vlan, state: up, vlan: {base-iface: eth1, id: 6}}]",
			},
			want: []string{"link v vlan up mtu 1500 id 6 base eth1"},
		},
		"an OVS bridge makes its internal port": {
			steps: []string{"interfaces: [{name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eth1}, {name: br-ex}]}}, {name: br-ex, type: ovs-interface, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 8}]}}]"},
			want:  []string{"link br-ex ovs-interface up mtu 1500 controller br-ex", "address br-ex 10.0.0.1/8", "link eth1 ethernet up mtu 1500 controller br-ex"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, labNode())
			for _, step := range test.steps {
				if err := n.apply(t, desired(t, step)); err != nil {
					t.Fatal(err)
				}
			}
			picture := strings.Join(n.host.Picture(), "\n")
			for _, want := range test.want {
				missing := strings.TrimPrefix(want, "-")
				if (missing == want) != strings.Contains(picture, missing) {
					t.Errorf("want %q in\n%s", want, picture)
				}
			}
			revert(t, n, test.steps[len(test.steps)-1])
		})
	}
}

// revert applies a step's way back and wants the host as before the step.
func revert(t *testing.T, n *node, step string) {
	t.Helper()
	fresh := n.host.Kernel()
	b := n.backend(t)
	current := n.host.Show()
	change := desired(t, "interfaces: [{name: br77, type: linux-bridge, state: up, bridge: {port: [{name: eth3}]}}, {name: eth2, type: ethernet, state: up, mtu: 1300}]")
	back, err := b.Revert(t.Context(), change, current)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.apply(t, change); err != nil {
		t.Logf("not applied on top of %s: %v", step, err)
		return
	}
	if err := n.apply(t, back); err != nil {
		t.Fatal(err)
	}
	if now := n.host.Kernel(); now != fresh {
		t.Errorf("reverted otherwise:\n%s\nwas\n%s", now, fresh)
	}
}

package desired

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// neighbour is a switch in nmstate's report.
func neighbour(chassis, port, system string, vlans ...int) string {
	var announced []string
	for _, id := range vlans {
		announced = append(announced, fmt.Sprintf("{name: v%d, vid: %d}", id, id))
	}
	return fmt.Sprintf("[{type: 5, system-name: %q}, {type: 1, chassis-id: %q}, {type: 2, port-id: %q}, {type: 127, ieee-802-1-vlans: [%s]}]",
		system, chassis, port, strings.Join(announced, ", "))
}

func reported(t testing.TB) state.State {
	t.Helper()
	return stateOf(t, `interfaces:
- {name: eth10, type: ethernet, state: down, driver: mlx5_core, mac-address: "02:00:00:00:00:99", permanent-mac-address: "AA:00:00:00:00:10"}
- {name: eth1, type: ethernet, state: up, driver: ixgbe, mac-address: "02:00:00:00:00:01", lldp: {enabled: true, neighbors: [`+neighbour("0A:00:00:00:00:02", "p7", "leaf-2.example", 100, 200)+`]}}
- {name: eth2, type: ethernet, state: up, driver: ixgbe, lldp: {enabled: true, neighbors: [`+neighbour("0A:00:00:00:00:01", "p8", "leaf-1.example", 100)+`]}}
- {name: eth3, type: ethernet, state: up, lldp: {enabled: true, neighbors: [`+neighbour("0a:00:00:00:00:01", "p9", "leaf-1.example", 300)+`]}}
- {name: eth4, type: ethernet, state: up, lldp: {enabled: true}}
- {name: eth1.5, type: vlan, state: up, vlan: {id: 5, base-iface: eth1}}
- {name: br0, type: ovs-bridge, state: up}
- {name: pair0, type: veth, state: up}
- {name: br0, type: ovs-interface, state: up}
- {name: cali123, type: ethernet, state: ignore}
- {name: left0, type: ethernet, state: ignore}
`)
}

func TestMatch(t *testing.T) {
	five := int32(5)
	rule := func(r v1.InterfaceRule) []v1.InterfaceRule { return []v1.InterfaceRule{r} }
	lldp := func(r v1.LLDPRule) []v1.InterfaceRule { return []v1.InterfaceRule{{LLDP: &r}} }
	for name, test := range map[string]struct {
		rules []v1.InterfaceRule
		want  string
	}{
		"a glob of the name, sorted":             {rule(v1.InterfaceRule{Name: "eth[12]*"}), "eth1 eth1.5 eth10 eth2"},
		"a type":                                 {rule(v1.InterfaceRule{Type: "vlan"}), "eth1.5"},
		"a veth is a veth":                       {rule(v1.InterfaceRule{Type: "veth"}), "pair0"},
		"a veth is no ethernet, as in a capture": {rule(v1.InterfaceRule{Type: "ethernet", Name: "pair*"}), ""},
		"a driver":                               {rule(v1.InterfaceRule{Driver: "ixgbe"}), "eth1 eth2"},
		"a permanent address in any spelling":    {rule(v1.InterfaceRule{MACAddress: "aa-00-00-00-00-10"}), "eth10"},
		"not the present address where there is a permanent": {rule(v1.InterfaceRule{MACAddress: "02:00:00:00:00:99"}), ""},
		"the present address where there is no other":        {rule(v1.InterfaceRule{MACAddress: "02:00:00:00:00:01"}), "eth1"},
		"a state":                          {rule(v1.InterfaceRule{State: "down"}), "eth10"},
		"a VLAN id":                        {rule(v1.InterfaceRule{VLANID: &five}), "eth1.5"},
		"all fields of a rule must hold":   {rule(v1.InterfaceRule{Name: "eth*", Driver: "ixgbe", State: "down"}), ""},
		"one rule of several is enough":    {[]v1.InterfaceRule{{Name: "eth4"}, {VLANID: &five}, {Name: "eth4*"}}, "eth1.5 eth4"},
		"a chassis in any case of letters": {lldp(v1.LLDPRule{ChassisID: "0A:00:00:00:00:01"}), "eth2 eth3"},
		"a glob of the switch's name":      {lldp(v1.LLDPRule{SystemName: "leaf-*.example"}), "eth1 eth2 eth3"},
		"a port of a switch":               {lldp(v1.LLDPRule{SystemName: "leaf-1*", PortID: "P9"}), "eth3"},
		"all announced ids":                {lldp(v1.LLDPRule{VLANIDs: []int32{100, 200}}), "eth1"},
		"what is protected is nobody's":    {rule(v1.InterfaceRule{Name: "cali*", State: "ignore"}), ""},
		"an OVS bridge and its internal port have but one name": {rule(v1.InterfaceRule{Name: "br0"}), "br0"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Match(test.rules, reported(t), DefaultProtected())
			if err != nil || strings.Join(got, " ") != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestWhatJoinsAMatch(t *testing.T) {
	for name, test := range map[string]struct {
		rule       v1.InterfaceRule
		wanted     string
		before     []string
		neighbours bool
		want       string
	}{
		"a NIC that is new":                                      {rule: v1.InterfaceRule{Name: "eth[124]"}, before: []string{"eth1"}, want: "eth2 eth4"},
		"nothing that was selected before":                       {rule: v1.InterfaceRule{Name: "eth[12]"}, before: []string{"eth1", "eth2", "eth9"}},
		"nothing that a policy makes":                            {rule: v1.InterfaceRule{Name: "pair*"}, wanted: `interfaces: [{name: pair0, type: veth, state: up}]`},
		"nor the other end of it":                                {rule: v1.InterfaceRule{Name: "pair*"}, wanted: `interfaces: [{name: pair1, type: veth, state: up, veth: {peer: pair0}}]`},
		"a NIC that another policy configures":                   {rule: v1.InterfaceRule{Name: "eth2"}, wanted: `interfaces: [{name: eth2, type: ethernet, mtu: 1400}]`, want: "eth2"},
		"nothing where virtual functions are made":               {rule: v1.InterfaceRule{Name: "eth*"}, wanted: `interfaces: [{name: eth1, type: ethernet, ethernet: {sr-iov: {total-vfs: 2}}}]`},
		"nothing that others make, where no rule names its type": {rule: v1.InterfaceRule{State: "up", Name: "br*"}},
		"what others make, where a rule does":                    {rule: v1.InterfaceRule{Type: "ovs-bridge"}, want: "br0"},
		"of neighbours only who has one":                         {rule: v1.InterfaceRule{Name: "eth[34]"}, neighbours: true, want: "eth3"},
		"nothing that NetworkManager leaves alone":               {rule: v1.InterfaceRule{Name: "left*"}},
		"nothing of another owner":                               {rule: v1.InterfaceRule{Name: "cali*"}},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := state.State{}
			if test.wanted != "" {
				wanted = stateOf(t, test.wanted)
			}
			names, err := Joined([]v1.InterfaceRule{test.rule}, reported(t), wanted, test.before, DefaultProtected(), test.neighbours)
			if err != nil || strings.Join(names, " ") != test.want {
				t.Errorf("got %q, %v", names, err)
			}
		})
	}
}

func TestMatchRefusesAPatternThatIsNone(t *testing.T) {
	_, err := Match([]v1.InterfaceRule{{Name: "a"}, {Name: "eth["}}, state.State{}, nil)
	if want := `spec.match[1].name: "eth[" is no pattern; write it as in "eth*" or "ens[1-4]f0"`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	_, err = Match([]v1.InterfaceRule{{LLDP: &v1.LLDPRule{SystemName: "[-"}}}, state.State{}, nil)
	if want := `spec.match[0].lldp.systemName: "[-" is no pattern; write it as in "leaf-*"`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestAutoConfigure(t *testing.T) {
	bonding := &v1.AutoBonding{Mode: "802.3ad", NamePrefix: "bond"}
	twoSwitches := stateOf(t, `interfaces: [{name: e, lldp: {enabled: true, neighbors: [`+neighbour("a", "1", "")+`, `+neighbour("b", "1", "")+`]}}]`)
	for name, test := range map[string]struct {
		config              v1.AutoConfig
		current             state.State
		matched             []string
		want, waiting, fail string
	}{
		"a bond for each chassis, numbered by the chassis id, with a VLAN for each id that any of its ports hears": {
			config: v1.AutoConfig{Bonding: bonding, VLAN: &v1.AutoVLAN{}}, matched: []string{"eth1", "eth2", "eth3"},
			want: `interfaces:
- {name: bond0, type: bond, state: up, link-aggregation: {mode: 802.3ad, port: [eth2, eth3]}}
- {name: bond1, type: bond, state: up, link-aggregation: {mode: 802.3ad, port: [eth1]}}
- {name: bond0.100, type: vlan, state: up, vlan: {id: 100, base-iface: bond0}}
- {name: bond0.300, type: vlan, state: up, vlan: {id: 300, base-iface: bond0}}
- {name: bond1.100, type: vlan, state: up, vlan: {id: 100, base-iface: bond1}}
- {name: bond1.200, type: vlan, state: up, vlan: {id: 200, base-iface: bond1}}
`,
		},
		"VLANs on the interfaces where there is no bonding": {
			config: v1.AutoConfig{VLAN: &v1.AutoVLAN{}}, matched: []string{"eth1", "eth2"},
			want: `interfaces:
- {name: eth1.100, type: vlan, state: up, vlan: {id: 100, base-iface: eth1}}
- {name: eth1.200, type: vlan, state: up, vlan: {id: 200, base-iface: eth1}}
- {name: eth2.100, type: vlan, state: up, vlan: {id: 100, base-iface: eth2}}
`,
		},
		"no matched interface makes nothing": {config: v1.AutoConfig{Bonding: bonding}, want: `{}`},
		"it waits until each interface has a neighbour": {
			config: v1.AutoConfig{Bonding: bonding}, matched: []string{"eth1", "eth10", "eth4"},
			waiting: "Waiting for LLDP neighbours of eth10, eth4",
		},
		"two switches on one interface are refused": {
			config: v1.AutoConfig{Bonding: bonding}, current: twoSwitches, matched: []string{"e"},
			fail: "spec.autoConfig: e hears two switches, chassis a and b, so it cannot be told which it leads to: leave it out of spec.match",
		},
		"a name that is longer than Linux allows is refused": {
			config: v1.AutoConfig{Bonding: &v1.AutoBonding{NamePrefix: "datacentre_b"}, VLAN: &v1.AutoVLAN{}}, matched: []string{"eth1"},
			fail: "spec.autoConfig: the name datacentre_b0.100 has 17 characters, and Linux allows 15: take a shorter bonding.namePrefix, or bonding where there is none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.current.IsEmpty() {
				test.current = reported(t)
			}
			got, waiting, err := AutoConfigure(test.config, test.current, test.matched)
			if waiting != test.waiting || (err == nil) != (test.fail == "") || (err != nil && err.Error() != test.fail) {
				t.Fatalf("waiting %q, %v", waiting, err)
			}
			if test.want == "" {
				return
			}
			if diff := cmp.Diff(string(stateOf(t, test.want).JSON()), string(got.JSON())); diff != "" {
				t.Error(diff)
			}
			if _, err := Render(got.JSON(), 0, true); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestProtectedInterfaces(t *testing.T) {
	for name, test := range map[string]struct{ state, want string }{
		"an entry":        {`interfaces: [{name: cali1, mtu: 1400}]`, `interfaces[cali1] belongs to another owner (protected pattern "cali*"): leave it out, or have the pattern taken off --protected-interfaces`},
		"one that goes":   {`interfaces: [{name: cilium_host, state: absent}]`, `interfaces[cilium_host] belongs to another owner (protected pattern "cilium*"): leave it out, or have the pattern taken off --protected-interfaces`},
		"a bridge's port": {`interfaces: [{name: br1, bridge: {port: [{name: vnet4}]}}]`, `interfaces[br1] takes the port vnet4 of another owner (protected pattern "vnet*"): leave it out, or have the pattern taken off --protected-interfaces`},
		"a bond's port":   {`interfaces: [{name: b, link-aggregation: {port: [eth1, tap0]}}]`, `interfaces[b] takes the port tap0 of another owner (protected pattern "tap*"): leave it out, or have the pattern taken off --protected-interfaces`},
		"nobody's":        {`interfaces: [{name: eth1}, {name: br1, bridge: {port: [{name: eth1}]}}]`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			err := Trespass(stateOf(t, test.state), DefaultProtected())
			if (err == nil) != (test.want == "") || (err != nil && err.Error() != test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	if err := CheckProtected(DefaultProtected()); err != nil {
		t.Error(err)
	}
	if err := CheckProtected([]string{"a*", "b[", ""}); err == nil || !strings.Contains(err.Error(), `"b[" is no pattern`) {
		t.Errorf("got %v", err)
	}
}

func TestCyclesAreRefused(t *testing.T) {
	_, err := Render(stateOf(t, `interfaces: [{name: br1, type: linux-bridge, bridge: {port: [{name: bond0}]}}, {name: bond0, type: bond, link-aggregation: {port: [br1]}}]`).JSON(), 0, true)
	if want := "reading spec.desiredState: interfaces stand on each other in a circle: bond0 -> br1 -> bond0"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	const bridge, bond = `interfaces: [{name: br1, bridge: {port: [{name: bond0}]}}]`, `interfaces: [{name: bond0, link-aggregation: {port: [br1.5]}}]`
	const vlan, other = `interfaces: [{name: br1.5, vlan: {base-iface: br1}}]`, `interfaces: [{name: eth1, mtu: 1400}]`
	merged, conflicts := Merge(inOrder(t, other, vlan, bridge, bond, `interfaces: [{name: eth2}]`))
	want := []Conflict{{Policy: "d", Other: "b", Cycle: "bond0 -> br1.5 -> br1 -> bond0"}}
	if diff := cmp.Diff(want, conflicts); diff != "" {
		t.Error(diff)
	}
	const text = "policy d conflicts with policy b: together they make interfaces stand on each other in a circle: bond0 -> br1.5 -> br1 -> bond0"
	if got := conflicts[0].String(); got != text {
		t.Error(got)
	}
	if _, there := merged.Interface("eth2"); !there || state.Cycle(merged) != "" {
		t.Errorf("merged %s", merged.JSON())
	}
	// Whom the one that closes the circle had kept out gets in.
	_, conflicts = Merge(inOrder(t, bridge, `interfaces: [{name: bond0, mtu: 9000, link-aggregation: {port: [br1]}}]`, `interfaces: [{name: bond0, mtu: 1400}]`))
	if len(conflicts) != 1 || conflicts[0].Policy != "b" {
		t.Errorf("conflicts %v", conflicts)
	}
}

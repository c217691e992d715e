package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpellOutAbsence(t *testing.T) {
	const current = `{"interfaces": [
		{"name": "br0", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth1"}, {"name": "eth2"}]}},
		{"name": "eth1", "type": "ethernet", "state": "up", "controller": "br0"},
		{"name": "eth2", "type": "ethernet", "state": "up", "controller": "br0"},
		{"name": "eth3", "type": "ethernet", "state": "up"},
		{"name": "br0.5", "type": "vlan", "state": "up", "vlan": {"base-iface": "br0", "id": 5}},
		{"name": "br0.5.6", "type": "vlan", "state": "up", "vlan": {"base-iface": "br0.5", "id": 6}},
		{"name": "eth3.5", "type": "vlan", "state": "up", "vlan": {"base-iface": "eth3", "id": 5}},
		{"name": "ovs0", "type": "ovs-interface", "state": "up", "controller": "ovsbr"},
		{"name": "veth0", "type": "veth", "state": "up", "veth": {"peer": "veth1"}},
		{"name": "veth1", "type": "veth", "state": "up", "veth": {"peer": "veth0"}},
		{"name": "veth2", "type": "veth", "state": "up", "veth": {"peer": "veth0"}},
		{"name": "ovsbr", "type": "ovs-bridge", "state": "up"}]}`
	const gone = `{"name": "br0", "type": "linux-bridge", "state": "absent"}`
	const vlans = `{"name": "br0.5", "type": "vlan", "state": "absent"}, {"name": "br0.5.6", "type": "vlan", "state": "absent"}`
	const eth1 = `{"name": "eth1", "type": "ethernet", "state": "up", "controller": ""}`
	const eth2 = `{"name": "eth2", "type": "ethernet", "state": "up", "controller": ""}`
	for sentence, test := range map[string]struct{ desired, want string }{
		"a state without absence stays": {desired: `{"name": "eth1", "mtu": 1400}`, want: `{"name": "eth1", "mtu": 1400}`},
		"the ports of an absent bridge are let go, and VLANs on it go with it": {
			desired: gone, want: gone + "," + vlans + "," + eth1 + "," + eth2},
		"a port that the state names is let go too": {
			desired: gone + `, {"name": "eth1", "mtu": 1400}`, want: gone + `, {"name": "eth1", "mtu": 1400, "controller": ""},` + vlans + "," + eth2},
		"a port that says its controller keeps its word": {
			desired: gone + `, {"name": "eth1", "controller": "br1"}`, want: gone + `, {"name": "eth1", "controller": "br1"},` + vlans + "," + eth2},
		"a port that another bridge takes is that one's": {
			desired: gone + `, {"name": "br1", "type": "linux-bridge", "bridge": {"port": [{"name": "eth1"}]}}`,
			want:    gone + `, {"name": "br1", "type": "linux-bridge", "bridge": {"port": [{"name": "eth1"}]}},` + vlans + "," + eth2},
		"a port that is absent itself is": {
			desired: gone + `, {"name": "eth1", "state": "absent"}`, want: gone + `, {"name": "eth1", "state": "absent"},` + vlans + "," + eth2},
		"a VLAN that is to stay is left to nmstate to refuse": {
			desired: gone + `, {"name": "br0.5", "state": "up"}`, want: gone + `, {"name": "br0.5", "state": "up"},` + eth1 + "," + eth2},
		"a VLAN stays on a NIC that has no profile any more": {
			desired: `{"name": "eth3", "type": "ethernet", "state": "absent"}`, want: `{"name": "eth3", "type": "ethernet", "state": "absent"}`},
		"an OVS interface goes with its bridge": {
			desired: `{"name": "ovsbr", "state": "absent"}`, want: `{"name": "ovsbr", "state": "absent"}, {"name": "ovs0", "type": "ovs-interface", "state": "absent"}`},
		"the other end of a veth pair goes too, but no veth whose end is in another namespace": {
			desired: `{"name": "veth0", "type": "veth", "state": "absent"}`,
			want:    `{"name": "veth0", "type": "veth", "state": "absent"}, {"name": "veth1", "type": "veth", "state": "absent"}`},
		"what is absent already has no ports": {desired: `{"name": "br7", "state": "absent"}`, want: `{"name": "br7", "state": "absent"}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			parse := func(text string) State {
				s, err := Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			got := SpellOutAbsence(parse(`{"interfaces": [`+test.desired+`]}`), parse(current))
			if diff := cmp.Diff(parse(`{"interfaces": [`+test.want+`]}`).Tree(), got.Tree()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

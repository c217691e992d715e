package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

func TestCycle(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"a bond in a bridge under a VLAN is a tree": {
			raw: `{"interfaces":[{"name":"br1","type":"linux-bridge","bridge":{"port":[{"name":"bond0"}]}},{"name":"bond0","type":"bond","link-aggregation":{"port":["eth1","eth2"]}},{"name":"br1.5","type":"vlan","vlan":{"id":5,"base-iface":"br1"}}]}`,
		},
		"two controllers that are each other's port": {
			raw:  `{"interfaces":[{"name":"br1","bridge":{"port":[{"name":"bond0"}]}},{"name":"bond0","link-aggregation":{"port":["br1"]}}]}`,
			want: "bond0 -> br1 -> bond0",
		},
		"an interface that is its own port": {
			raw:  `{"interfaces":[{"name":"br1","bridge":{"port":[{"name":"br1"}]}}]}`,
			want: "br1 -> br1",
		},
		"the way into the circle is not told": {
			raw:  `{"interfaces":[{"name":"a","vlan":{"base-iface":"b"}},{"name":"b","vlan":{"base-iface":"c"}},{"name":"c","vlan":{"base-iface":"b"}}]}`,
			want: "b -> c -> b",
		},
		"a controller that is named by its port counts too": {
			raw:  `{"interfaces":[{"name":"br1.5","controller":"br1","vlan":{"base-iface":"br1"}}]}`,
			want: "br1 -> br1.5 -> br1",
		},
		"an OVS bridge with its own internal port is none": {
			raw: `{"interfaces":[{"name":"br0","type":"ovs-bridge","bridge":{"port":[{"name":"br0"},{"name":"eth1"}]}},{"name":"br0","type":"ovs-interface","controller":"br0"}]}`,
		},
		"what is absent stands on nothing": {
			raw: `{"interfaces":[{"name":"br1","state":"absent","bridge":{"port":[{"name":"br1"}]}}]}`,
		},
		"veth pairs stand beside each other": {
			raw: `{"interfaces":[{"name":"a","veth":{"peer":"b"}},{"name":"b","veth":{"peer":"a"}}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := state.Cycle(parse(t, test.raw)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What nmstate 2.2.62 reports of a switch (serialised LldpNeighborTlv).
const twoNeighbours = `{"interfaces":[{"name":"eth1","driver":"veth","permanent-mac-address":"02:00:00:00:00:01","lldp":{"enabled":true,"neighbors":[
 [{"type":5,"system-name":"sw1.example"},{"type":1,"chassis-id":"02:00:00:00:AA:01","chassis-id-type":4,"_description":"MAC address"},
  {"type":2,"port-id":"port7","port-id-type":5,"_description":"Interface name"},
  {"type":127,"ieee-802-1-vlans":[{"name":"storage","vid":200},{"name":"v","vid":100},{"name":"again","vid":100}],"oui":"00:80:c2","subtype":3}],
 [{"type":1,"chassis-id":"other","chassis-id-type":7,"_description":"Locally assigned"}]]}}]}`

func TestNeighbours(t *testing.T) {
	one, _ := parse(t, twoNeighbours).Interface("eth1")
	want := []state.Neighbour{
		{ChassisID: "02:00:00:00:AA:01", PortID: "port7", SystemName: "sw1.example", VLANs: []int64{100, 200}},
		{ChassisID: "other"},
	}
	if diff := cmp.Diff(want, one.Neighbours()); diff != "" {
		t.Error(diff)
	}
	if one.Driver() != "veth" || one.PermanentMACAddress() != "02:00:00:00:00:01" {
		t.Errorf("driver %q, address %q", one.Driver(), one.PermanentMACAddress())
	}
	if (state.Interface{}).Neighbours() != nil {
		t.Error("an interface without LLDP has no neighbours")
	}
}

func TestReportsAreTheSameInAnyOrderOfNeighboursAndOnlyThen(t *testing.T) {
	const first, second = `[{"type":5,"system-name":"a"}]`, `[{"type":5,"system-name":"b"}]`
	of := func(neighbours string) state.State {
		return parse(t, `{"interfaces":[{"name":"eth1","lldp":{"enabled":true,"neighbors":[`+neighbours+`]}}]}`)
	}
	if !state.SameReport(of(first+","+second), of(second+","+first)) {
		t.Error("another order is not another report")
	}
	if state.SameReport(of(first), of(second)) || state.SameReport(of(first), of("")) {
		t.Error("another neighbour is another report")
	}
}

func TestTyped(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"numbers and booleans, where nmstate wants them": {
			raw:  `{"interfaces":[{"name":"1","mtu":"9000","ipv4":{"enabled":"true","allow-extra-address":"false","address":[{"ip":"192.0.2.1","prefix-length":"24"}]}}],"routes":{"config":[{"metric":"-1","table-id":"7"}]}}`,
			want: `{"interfaces":[{"name":"1","mtu":9000,"ipv4":{"enabled":true,"allow-extra-address":false,"address":[{"ip":"192.0.2.1","prefix-length":24}]}}],"routes":{"config":[{"metric":-1,"table-id":7}]}}`,
		},
		"sections of an interface of any type": {
			raw:  `{"interfaces":[{"type":"vlan","vlan":{"id":"12"}},{"vlan":{"id":"13"}},{"type":"linux-bridge","bridge":{"options":{"stp":{"enabled":"no"}}}}]}`,
			want: `{"interfaces":[{"type":"vlan","vlan":{"id":12}},{"vlan":{"id":13}},{"type":"linux-bridge","bridge":{"options":{"stp":{"enabled":false}}}}]}`,
		},
		"what is no such value, or in no such place, stays": {
			raw:  `{"interfaces":[{"name":"e","mtu":"big","unknown":"1","lldp":"true"}],"hostname":{"config":"7"}}`,
			want: `{"interfaces":[{"name":"e","mtu":"big","unknown":"1","lldp":"true"}],"hostname":{"config":"7"}}`,
		},
		"nothing": {raw: ``, want: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := state.Typed(parse(t, test.raw)); !got.Equal(parse(t, test.want)) {
				t.Errorf("got %s", got.JSON())
			}
		})
	}
}

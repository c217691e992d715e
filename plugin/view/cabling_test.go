package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// heard is an interface with its neighbour, written "eth0 tor-a 100 200".
func heard(cable string) string {
	words := strings.Fields(cable)
	var vlans []string
	for _, id := range words[2:] {
		vlans = append(vlans, "{vid: "+id+"}")
	}
	tlv := ""
	if len(vlans) > 0 {
		tlv = ", {ieee-802-1-vlans: [" + strings.Join(vlans, ", ") + "]}"
	}
	return fmt.Sprintf("- {name: %s, type: ethernet, state: up, lldp: {enabled: true, neighbors: [[{chassis-id: %q}, {system-name: %s}, {port-id: p1}%s]]}}\n", words[0], "id of "+words[1], words[1], tlv)
}

func TestCabling(t *testing.T) {
	const bond = "- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth0, eth1]}}\n"
	nodes := func(cables ...string) []v1.NodeNetworkState {
		var all []v1.NodeNetworkState
		for i, one := range cables {
			current := "interfaces:\n"
			for cable := range strings.SplitSeq(one, ", ") {
				current += heard(cable)
			}
			nns := stateOf(t, current, "{}")
			nns.Name = fmt.Sprintf("node%d", i+1)
			all = append(all, *nns)
		}
		return all
	}
	tests := map[string]struct {
		states []v1.NodeNetworkState
		want   []string
	}{
		"a bond on two switches that carry its VLAN": {
			[]v1.NodeNetworkState{*stateOf(t, "interfaces:\n"+heard("eth0 tor-a 100")+heard("eth1 tor-b 100")+bond+"- {name: bond0.100, type: vlan, state: up, vlan: {base-iface: bond0, id: 100}}", "{}")},
			[]string{"node1 eth0 tor-a p1 100", "node1 eth1 tor-b p1 100"},
		},
		"a VLAN that a policy wants and one leg does not carry": {
			func() []v1.NodeNetworkState {
				nns := stateOf(t, "interfaces:\n"+heard("eth0 tor-a 100")+heard("eth1 tor-b 100 200")+bond, "interfaces: [{name: bond0.200, type: vlan, state: up, vlan: {base-iface: bond0, id: 200}}]")
				nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "storage"}, Paths: []string{"interfaces[bond0.200]"}}}
				return []v1.NodeNetworkState{*nns}
			}(),
			[]string{"node1 eth0 tor-a p1 100", "VLAN 200 of bond0.200 is not carried (policy storage)", "node1 eth1 tor-b p1 100,200"},
		},
		"a switch that announces no VLANs says nothing": {
			[]v1.NodeNetworkState{*stateOf(t, "interfaces:\n"+heard("eth0 tor-a")+"- {name: eth0.7, type: vlan, state: up, vlan: {base-iface: eth0, id: 7}}", "{}")},
			[]string{"node1 eth0 tor-a p1 -"},
		},
		"a bond on one switch": {
			[]v1.NodeNetworkState{*stateOf(t, "interfaces:\n"+heard("eth0 tor-a")+heard("eth1 tor-a")+bond, "{}")},
			[]string{"node1 eth0 tor-a p1 -", "all legs of bond0 end at tor-a", "node1 eth1 tor-a p1 -", "all legs of bond0 end at tor-a"},
		},
		"the odd node out": {
			nodes("eth0 tor-a 1 2", "eth0 tor-a 1 2", "eth0 tor-b 1 2", "eth0 tor-b 1"),
			[]string{"node1 eth0 tor-a p1 1,2", "node2 eth0 tor-a p1 1,2", "node3 eth0 tor-b p1 1,2", "node4 eth0 tor-b p1 1", "carries VLANs 1, and eth0 of 3 other nodes carries 1,2"},
		},
		"two of each are no odd ones": {
			nodes("eth0 tor-a 1", "eth0 tor-a 1", "eth0 tor-a 2", "eth0 tor-a 2"),
			[]string{"node1 eth0 tor-a p1 1", "node2 eth0 tor-a p1 1", "node3 eth0 tor-a p1 2", "node4 eth0 tor-a p1 2"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cables, err := Cabling(tc.states)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range CablingTable(cables, NoPaint)[1:] {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSwappedCables(t *testing.T) {
	var states []v1.NodeNetworkState
	for i := range 4 {
		first, second := "tor-a", "tor-b"
		if i == 3 {
			first, second = second, first
		}
		nns := stateOf(t, "interfaces:\n"+heard("eth0 "+first)+heard("eth1 "+second), "{}")
		nns.Name = fmt.Sprintf("node%d", i+1)
		states = append(states, *nns)
	}
	cables, err := Cabling(states)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cables {
		if odd := c.Node == "node4"; odd != (len(c.Findings) == 1) {
			t.Errorf("%s %s: %q", c.Node, c.Interface, c.Findings)
		}
	}
}

package view

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/graph"
)

// stateOf is a node with this current and desired state, in YAML.
func stateOf(t *testing.T, current, desired string) *v1.NodeNetworkState {
	t.Helper()
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for text, to := range map[string]*v1.State{current: &nns.Status.CurrentState, desired: &nns.Spec.DesiredState} {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		*to = v1.NewState(raw)
	}
	return nns
}

const bonded = `
interfaces:
- {name: lo, type: loopback, state: up}
- name: eth0
  type: ethernet
  state: up
  mtu: 1500
  controller: bond0
  lldp: {enabled: true, neighbors: [[{chassis-id: "02:00:00:00:00:0a"}, {system-name: tor-a}, {port-id: swp7}]]}
- name: eth1
  type: ethernet
  state: up
  mtu: 1500
  controller: bond0
  lldp: {enabled: true, neighbors: [[{chassis-id: "02:00:00:00:00:0b"}, {system-name: tor-b}, {port-id: swp7}]]}
- {name: eth2, type: ethernet, state: down}
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth0, eth1]}}
- name: bond0.100
  type: vlan
  state: up
  vlan: {base-iface: bond0, id: 100}
  ipv4: {enabled: true, address: [{ip: 192.0.2.11, prefix-length: 24}]}
  ipv6: {enabled: true, address: [{ip: "fe80::1", prefix-length: 64}]}
routes:
  running:
  - {destination: 0.0.0.0/0, next-hop-interface: bond0.100, next-hop-address: 192.0.2.1, table-id: 254}
`

// TestTopology draws nodes, in testdata: make golden, git diff.
func TestTopology(t *testing.T) {
	pods := "interfaces:\n- {name: cni0, type: linux-bridge, state: up}\n- {name: eth0, type: veth, state: up, controller: cni0}\n"
	for i := range 5 {
		pods += fmt.Sprintf("- {name: veth%d, type: veth, state: up, controller: cni0}\n", i)
	}
	ovs := `
interfaces:
- {name: eth1, type: ethernet, state: up, controller: br-ex}
- {name: br-ex, type: ovs-bridge, state: up, bridge: {port: [{name: eth1}, {name: br-ex}]}}
- {name: br-ex, type: ovs-interface, state: up, controller: br-ex, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}]}}
`
	tests := map[string]func() *v1.NodeNetworkState{
		"a VLAN over a bond of two switches": func() *v1.NodeNetworkState {
			nns := stateOf(t, bonded, "interfaces: [{name: bond0.100, type: vlan, state: up}]")
			nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "storage"}, Paths: []string{"interfaces[bond0.100]"}}}
			return nns
		},
		"drift, and what is not there": func() *v1.NodeNetworkState {
			nns := stateOf(t, bonded, "interfaces: [{name: br1, type: linux-bridge, state: up, bridge: {port: [{name: eth2}]}}, {name: bond0.100, type: vlan, state: up}, {name: old, state: absent}]")
			nns.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "bridge"}, Paths: []string{"interfaces[br1]"}}, {Source: v1.Source{Policy: "mtu"}, Paths: []string{"interfaces[bond0.100].mtu"}}}
			nns.Status.Drift = []v1.Drift{{Path: "interfaces[bond0.100].mtu", Expected: "1400", Found: "1500"}, {Path: "dns-resolver.server", Expected: "192.0.2.53"}, {Path: "interfaces[br1]", Expected: "up"}}
			nns.Status.Transaction = &v1.Transaction{Phase: "Probing", Policy: "mtu"}
			return nns
		},
		"ports of pods are folded":          func() *v1.NodeNetworkState { return stateOf(t, pods, "{}") },
		"an Open vSwitch bridge as the NIC": func() *v1.NodeNetworkState { return stateOf(t, ovs, "{}") },
		"a node that has not reported":      func() *v1.NodeNetworkState { return stateOf(t, "{}", "{}") },
		"a report that leaves something out": func() *v1.NodeNetworkState {
			nns := stateOf(t, "interfaces: [{name: eth0, type: ethernet, state: up}]", "{}")
			nns.Status.Truncated = &v1.Truncated{Omitted: []v1.Omitted{{Section: "interfaces", Type: "vlan", Count: 700}, {Section: "routes.running", Count: 3}}}
			return nns
		},
	}
	for name, made := range tests {
		t.Run(name, func(t *testing.T) {
			g, err := Topology(made(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := graph.Text(g, nil)
			if err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, got, "topology/"+strings.ReplaceAll(name, " ", "-")+".txt")
		})
	}
}

func TestTopologyLinksToItsInterfaces(t *testing.T) {
	g, err := Topology(stateOf(t, bonded, "{}"), func(name string) string { return "#" + name })
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range g.Nodes {
		if want := "#" + node.ID; node.Kind != graph.Switch && node.Link != want {
			t.Errorf("%s leads to %q", node.ID, node.Link)
		}
	}
}

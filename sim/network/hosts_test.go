package network_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// joined builds a cluster with hosts.
func joined(w *world.World, t network.Topology) (*network.Cluster, []*host.Host, []network.Station) {
	c := network.Build(w, t)
	var hosts []*host.Host
	var stations []network.Station
	for _, node := range c.Nodes {
		h := host.New(w, node.Name, host.Options{NICs: node.HostNICs()})
		hosts, stations = append(hosts, h), append(stations, c.Join(node, h))
	}
	return c, hosts, stations
}

// apply has nmstate apply a state on the host, and waits for half a minute; the
// rollback comes after five.
func apply(t *testing.T, w *world.World, h *host.Host, desired string) {
	t.Helper()
	if err := tried(t, w, h, desired); err != nil {
		t.Fatal(err)
	}
}

// tried is apply that may fail.
func tried(t *testing.T, w *world.World, h *host.Host, desired string) error {
	t.Helper()
	p := w.Process(h.Name)
	defer p.Kill()
	raw, err := yaml.YAMLToJSON([]byte(desired))
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := state.ParseDesired(raw)
	if err != nil {
		t.Fatal(err)
	}
	p.Go("apply", func() {
		_, _, err = h.Backend(p).Apply(context.WithoutCancel(t.Context()), wanted, 5*time.Minute, func(backend.Checkpoint) {})
	})
	if failed := w.RunFor(30 * time.Second); failed != nil {
		t.Fatal(failed)
	}
	return err
}

func TestAnAddressThatSomebodyHasIsRefused(t *testing.T) {
	w := world.New(1)
	_, hosts, _ := joined(w, network.Nodes(2, 1))
	err := tried(t, w, hosts[0], `{interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.12, prefix-length: 24}]}}]}`)
	if err == nil || !strings.Contains(err.Error(), "192.0.2.12") {
		t.Errorf("got %v", err)
	}
}

func TestAHostShowsItsSwitch(t *testing.T) {
	w := world.New(1)
	_, hosts, _ := joined(w, network.Nodes(1, 1))
	apply(t, w, hosts[0], `{interfaces: [{name: eth1, type: ethernet, state: up, lldp: {enabled: true}}]}`)
	eth1, _ := hosts[0].Show().Interface("eth1")
	want := []state.Neighbour{{ChassisID: "02:00:00:00:ff:01", PortID: "node1.eth1", SystemName: "side", VLANs: []int64{100, 200}}}
	if diff := cmp.Diff(want, eth1.Neighbours()); diff != "" {
		t.Error(diff)
	}
}

func TestALeaseLeadsOutAndItsEndCutsOff(t *testing.T) {
	w := world.New(1)
	topology := network.Nodes(1, 0)
	topology.Nodes[0].NICs[0].Address, topology.Nodes[0].NICs[0].Address6 = "dhcp", "auto"
	topology.Switches[0].RA = true
	c, hosts, stations := joined(w, topology)
	effects := network.Effects{Cluster: c}
	expect := func(want string) {
		t.Helper()
		if err := w.RunFor(30 * time.Second); err != nil {
			t.Fatal(err)
		}
		if got := why(c.ReachesAPI(stations[0], c.Nodes[0].API)); got != want {
			t.Errorf("got %q, want %q\n%s", got, want, hosts[0].Kernel())
		}
	}
	expect("")
	if err := c.Reaches(stations[0], addr("2001:db8::1")); err != nil {
		t.Errorf("IPv6: %v\n%s", err, hosts[0].Kernel())
	}
	if diff := cmp.Diff([]string{"192.0.2.1", "fe80::1%eth0"}, hosts[0].NameServers()); diff != "" {
		t.Error(diff)
	}
	if err := c.Reaches(stations[0], addr("fe80::1%eth0")); err != nil {
		t.Errorf("the router's name server: %v", err)
	}
	effects.DHCP("gone")
	expect("") // A lease lives longer than that.
	hosts[0].ForgetLease("eth0")
	expect("node1 has no route to 192.0.2.1")
	effects.DHCP("")
	expect("")
	c.SetCable(stations[0], "eth0", false)
	expect("node1 has no route to 192.0.2.1")
	c.SetCable(stations[0], "eth0", true)
	expect("")
}

// What a policy says, and why the API server is out of the node's reach then.
func TestAPolicyThatCutsItsNodeOffReallyDoes(t *testing.T) {
	const moved = `
    ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.11, prefix-length: 24}]}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: top}
`
	// NetworkManager lets no family be disabled that has its profile's name servers.
	const unserved = `
dns-resolver: {config: {}}
`
	tests := map[string]struct {
		desired string
		want    string
	}{
		"an MTU": {"interfaces: [{name: eth0, type: ethernet, state: up, mtu: 1400}]", ""},
		"another network": {`{interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 203.0.113.77, prefix-length: 24}]}}]}`,
			"the way back: gateway has no route to 203.0.113.77"},
		"no address":        {`interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: false}}]` + unserved, "node1 has no route to 192.0.2.1"},
		"an interface down": {`{interfaces: [{name: eth0, type: ethernet, state: down}]}`, "node1 has no route to 192.0.2.1"},
		"a bridge that takes over": {`
interfaces:
  - name: top
    type: linux-bridge
    state: up
    bridge: {port: [{name: eth0}]}` + moved, ""},
		// The gateway answers for 192.0.2.1 in both switches.
		"a bridge with the wrong NIC": {`
interfaces:
  - name: ovs0
    type: ovs-bridge
    state: up
    bridge: {port: [{name: eth0}]}
  - name: top
    type: linux-bridge
    state: up
    bridge: {port: [{name: eth1}]}` + moved, "the way back: nobody in switch lan answers gateway for 192.0.2.11"},
		"a bridge whose port is in a VLAN": {`
interfaces:
  - name: top
    type: linux-bridge
    state: up
    bridge: {port: [{name: eth0, vlan: {mode: access, tag: 5}}]}` + moved, "node1: top finds no way out through eth0"},
		"a bond of both NICs": {`
interfaces:
  - name: top
    type: bond
    state: up
    link-aggregation: {mode: active-backup, port: [eth0, eth1]}` + moved, ""},
		"a bond that prefers the wrong one": {`
interfaces:
  - name: top
    type: bond
    state: up
    link-aggregation: {mode: active-backup, options: {primary: eth1}, port: [eth0, eth1]}` + moved, "the way back: nobody in switch lan answers gateway for 192.0.2.11"},
		"a VLAN that the switch does not know": {`
interfaces:
  - name: eth0
    type: ethernet
    state: up
    ipv4: {enabled: false}
  - name: top
    type: vlan
    state: up
    vlan: {base-iface: eth0, id: 5}` + moved + unserved, "nobody in VLAN 5 of switch lan answers node1 for 192.0.2.1"},
		"a bridge over a bond": {`
interfaces:
  - name: bond0
    type: bond
    state: up
    ipv4: {enabled: false}
    link-aggregation: {mode: active-backup, options: {primary: eth0}, port: [eth0, eth1]}
  - name: top
    type: linux-bridge
    state: up
    bridge: {port: [{name: bond0}]}` + moved, ""},
		"an OVS bridge": {`
interfaces:
  - name: ovs0
    type: ovs-bridge
    state: up
    bridge: {port: [{name: eth0}, {name: top}]}
  - name: top
    type: ovs-interface
    state: up` + moved, ""},
		"an OVS bridge whose interface has the bridge's name": {`
interfaces:
  - name: top
    type: ovs-bridge
    state: up
    bridge: {port: [{name: eth0}, {name: top}]}
  - name: top
    type: ovs-interface
    state: up` + moved, ""},
		"an OVS interface in a VLAN": {`
interfaces:
  - name: ovs0
    type: ovs-bridge
    state: up
    bridge: {port: [{name: eth0}, {name: top, vlan: {mode: access, tag: 7}}]}
  - name: top
    type: ovs-interface
    state: up` + moved, "nobody in VLAN 7 of switch lan answers node1 for 192.0.2.1"},
		"a MACVLAN": {`
interfaces:
  - name: eth0
    type: ethernet
    state: up
    ipv4: {enabled: false}
  - name: top
    type: mac-vlan
    state: up
    mac-vlan: {base-iface: eth0, mode: bridge, promiscuous: true}` + moved + unserved, ""},
		"a VRF without routes of its own": {`
interfaces:
  - name: vrf1
    type: vrf
    state: up
    vrf: {port: [eth0], route-table-id: 100}`, "node1 has no route to 192.0.2.1"},
		"a route to the target by somebody who is not there": {`
routes:
  config:
  - {destination: 192.0.2.1/32, next-hop-address: 192.0.2.99, next-hop-interface: eth0}`, "nobody in switch lan answers node1 for 192.0.2.99"},
		"a rule whose table leads elsewhere": {`
routes:
  config:
  - {destination: 192.0.2.0/24, next-hop-address: 192.0.2.99, next-hop-interface: eth0, table-id: 100}
route-rules:
  config:
  - {priority: 1000, ip-to: 192.0.2.0/24, route-table: 100}`, "nobody in switch lan answers node1 for 192.0.2.99"},
		"a rule whose table is empty": {`
route-rules:
  config:
  - {priority: 1000, ip-to: 192.0.2.0/24, route-table: 100}`, ""},
		"a rule about what others send": {`
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.99, next-hop-interface: eth0, table-id: 100}
route-rules:
  config:
  - {priority: 1000, ip-from: 203.0.113.0/24, route-table: 100}`, ""},
		"a trunk port that lets everything pass": {`
interfaces:
  - name: top
    type: linux-bridge
    state: up
    bridge: {port: [{name: eth0, vlan: {mode: trunk, trunk-tags: [{id-range: {min: 2, max: 4094}}]}}]}` + moved, ""},
		"a lease": {`{interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := world.New(1)
			c, hosts, stations := joined(w, network.Nodes(2, 1))
			if err := c.ReachesAPI(stations[0], c.Nodes[0].API); err != nil {
				t.Fatal(err)
			}
			apply(t, w, hosts[0], test.desired)
			if got := why(c.ReachesAPI(stations[0], c.Nodes[0].API)); got != test.want {
				t.Errorf("got  %q\nwant %q\n%s", got, test.want, hosts[0].Kernel())
			}
			if err := w.RunFor(10 * time.Minute); err != nil { // NetworkManager takes it back.
				t.Fatal(err)
			}
			if err := c.ReachesAPI(stations[0], c.Nodes[0].API); err != nil {
				t.Errorf("after the rollback: %v\n%s", err, hosts[0].Kernel())
			}
		})
	}
}

func BenchmarkFiveThousandRealHosts(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		before := heap()
		w := world.New(1)
		c, hosts, stations := joined(w, network.Nodes(5000, 2))
		for i, s := range stations {
			if err := c.ReachesAPI(s, c.Nodes[i].API); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/float64(len(hosts)), "B/host")
		runtime.KeepAlive(c)
	}
}

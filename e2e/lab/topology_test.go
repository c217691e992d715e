package lab

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/golden"

	"github.com/nmstate/kubernetes-nmstate/graph"
)

// one is a correct topology that the tables change by one mistake.
const one = `
nodes:
- name: a
  nics:
  - {name: eth0, switch: lan, address: 192.0.2.11/24}
switches:
- name: lan
  gateway: 192.0.2.1/24
`

func TestTopologyMistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		replace, by string
		want        []string
	}{
		"a correct topology has no mistake": {},
		"an unknown key is named with its line": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  gatway6: x", []string{`line 9: unknown key "gatway6"`}},
		"two unknown keys are two lines": {
			"- name: a", "- name: a\n  color: red\n  shape: round", []string{`line 4: unknown key "color"`, `line 5: unknown key "shape"`}},
		"a key given twice is named": {
			"- name: a", "- name: a\n  name: b", []string{`line 4: mapping key "name" already defined at line 3`}},
		"a word where a number belongs is a wrong type": {
			"- name: a", "- name: a\n  count: many", []string{"line 4: wrong type str `many`"}},
		"broken YAML says where": {
			"nodes:", "nodes: [", []string{"line 2: did not find expected node content"}},
		"an unknown switch lists those that exist": {
			"switch: lan", "switch: lna", []string{`nodes[0].nics[0].switch: unknown switch "lna" (there are: lan)`}},
		"a node's name may exist once": {
			"switches:", "- name: a\n  nics:\n  - {name: eth0, switch: lan, address: 192.0.2.12/24}\nswitches:",
			[]string{`nodes[1].name: "a" is already the name of nodes[0]`}},
		"a NIC's name may exist once in a node": {
			"switches:", "  - {name: eth0, switch: lan}\nswitches:",
			[]string{`nodes[0].nics[1].name: "eth0" is already the name of nodes[0].nics[0]`}},
		"a name has to be one": {
			"- name: a", "- name: A_b",
			[]string{`nodes[0].name: "A_b" may have only a-z, 0-9 and - and must start and end with a letter or digit`}},
		"an address without prefix length is refused": {
			"192.0.2.11/24", "192.0.2.11",
			[]string{`nodes[0].nics[0].address: "192.0.2.11" is not an IPv4 address with prefix length, such as 192.0.2.1/24`}},
		"an address of another network is refused": {
			"192.0.2.11/24", "198.51.100.1/24",
			[]string{`nodes[0].nics[0].address: 198.51.100.1/24 is not in the network of its switch's gateway "192.0.2.1/24"`}},
		"the gateway's address is taken": {
			"192.0.2.11/24", "192.0.2.1/24",
			[]string{`nodes[0].nics[0].address: 192.0.2.1 is already used by the gateway of switch lan`}},
		"DHCP needs a range": {
			"192.0.2.11/24", "dhcp", []string{`nodes[0].nics[0].address: dhcp, but switch lan has no dhcp range`}},
		"a DHCP range lies in the switch's network and goes upwards": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  dhcp: {from: 192.0.2.20, to: 192.0.2.10}",
			[]string{`switches[0].dhcp: from 192.0.2.20 is after to 192.0.2.10`}},
		"router advertisements need a prefix": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  routerAdvertisements: true",
			[]string{`switches[0].routerAdvertisements: needs a gateway6 whose prefix is announced`}},
		"the first NIC needs an address": {
			", address: 192.0.2.11/24", "", []string{`nodes[0].nics[0].address: the first NIC carries the API server: give it an address or dhcp, or give one to a link that leads to a switch`}},
		"a service has a known type and a free port": {
			"nodes:", "services: [{name: s, switch: lan, type: ftp, port: 6443}]\nnodes:",
			[]string{`services[0].type: "ftp" is neither http nor echo`, `services[0].port: 6443 is not a free port (1 to 65535, without 6443)`}},
		"a switch announces itself with LLDP": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  lldp: {chassisID: \"02:00:00:00:00:01\", systemName: leaf1, vlans: [100, 200]}", nil},
		"a switch that announces itself has a chassis id": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  lldp: {systemName: leaf1}",
			[]string{`switches[0].lldp.chassisID: "" is not a MAC address, such as 02:00:00:00:00:01`}},
		"an announced VLAN is one, and once": {
			"gateway: 192.0.2.1/24", "gateway: 192.0.2.1/24\n  lldp: {chassisID: \"02:00:00:00:00:01\", vlans: [0, 7, 7, 4095]}",
			[]string{`switches[0].lldp.vlans[0]: 0 is not a VLAN id (1 to 4094)`, `switches[0].lldp.vlans[2]: 7 is there twice`,
				`switches[0].lldp.vlans[3]: 4095 is not a VLAN id (1 to 4094)`}},
		"a link has a known type": {
			"switches:", "  links: [{name: t0, type: team}]\nswitches:",
			[]string{`nodes[0].links[0].type: "team" is none of bond, dummy, ipvlan, linux-bridge, mac-vlan, ovs-bond, ovs-bridge, ovs-interface, veth, vlan, vrf, vxlan`}},
		"a link has what its type needs, and nothing else": {
			"switches:", "  links: [{name: v, type: vlan, mode: l2}, {name: b, type: bond, mode: fast, ports: [eth1]}]\nswitches:",
			[]string{
				"nodes[0].links[0].base: is missing: a vlan has one", "nodes[0].links[0].id: is missing: a vlan has one",
				"nodes[0].links[0].mode: a vlan has none",
				`nodes[0].links[1].mode: "fast" is none of 802.3ad, active-backup, balance-alb, balance-rr, balance-tlb, balance-xor, broadcast`,
				`nodes[0].links[1].ports[0]: unknown interface "eth1" (before it there are: eth0, v)`,
			}},
		"a link's numbers and addresses are such": {
			"switches:", "  links: [{name: v, type: vlan, base: eth0, id: 4095}, {name: x, type: vxlan, base: eth0, id: 5, remote: there, address: 10.0.0.1, address6: auto}]\nswitches:",
			[]string{
				"nodes[0].links[0].id: 4095 is not between 1 and 4094", `nodes[0].links[1].remote: "there" is not an IP address`,
				`nodes[0].links[1].address: "10.0.0.1" is not an IPv4 address with prefix length, such as 192.0.2.1/24`,
				"nodes[0].links[1].address6: auto comes from a switch: name it",
			}},
		"a name that the kernel refuses is refused": {
			"switches:", "  links: [{name: a-very-long-name, type: dummy}, {name: a/b, type: dummy}, {name: lo, type: dummy}, {name: eth0, type: dummy}, {type: dummy}]\nswitches:",
			[]string{
				`nodes[0].links[0].name: "a-very-long-name" is longer than 15 characters`,
				`nodes[0].links[1].name: "a/b" may have only a-z, 0-9, -, _ and . and must start with a letter or digit`,
				"nodes[0].links[2].name: lo is the loopback interface",
				`nodes[0].links[3].name: "eth0" is already the name of nodes[0].nics[0]`, "nodes[0].links[4].name: is missing",
			}},
		"a port has no address and one controller": {
			"switches:", "  - {name: eth1, switch: lan}\n  links: [{name: br0, type: linux-bridge, ports: [eth0, eth1]}, {name: br1, type: linux-bridge, ports: [eth1]}]\nswitches:",
			[]string{
				"nodes[0].links[0].ports[0]: eth0 has an address; give it to br0, whose port it is",
				"nodes[0].links[1].ports[0]: eth1 is already a port of br0",
			}},
		"a veth has two names": {
			"switches:", "  links: [{name: veth1, type: veth, peer: eth0}]\nswitches:",
			[]string{`nodes[0].links[0].peer: "eth0" is already the name of nodes[0].nics[0]`}},
		"a link leads to a switch that there is": {
			"switches:", "  links: [{name: d, type: dummy, switch: lna, address: dhcp}]\nswitches:",
			[]string{`nodes[0].links[0].switch: unknown switch "lna" (there are: lan)`}},
		"two links have two addresses": {
			"switches:", "  links: [{name: d, type: dummy, address: 192.0.2.11/24}]\nswitches:",
			[]string{"nodes[0].links[0].address: 192.0.2.11 is already used by a eth0"}},
		"an administrator's profile is one": {
			"switches:", "  profiles: {office.conf: \"\", eth0.nmconnection: \"\", a.nmconnection: \"[ipv4]\"}\nswitches:",
			[]string{
				"nodes[0].profiles[a.nmconnection]: has no section [connection]",
				"nodes[0].profiles[eth0.nmconnection]: has no section [connection]",
				"nodes[0].profiles[office.conf]: a profile is a file whose name ends with .nmconnection",
			}},
		"Open vSwitch is on the node, and its types have what they need": {
			"switches:", "  links: [{name: br-ex, type: ovs-bridge, ports: [eth0]}, {name: b, type: ovs-bond, mode: fast}]\nswitches:",
			[]string{
				"nodes[0].links[0].type: ovs-bridge needs a node with openvswitch: true",
				"nodes[0].links[1].type: ovs-bond needs a node with openvswitch: true",
				`nodes[0].links[1].mode: "fast" is none of active-backup, balance-slb, balance-tcp`,
			}},
		"functions are a card's, and a bridge's VLANs are some": {
			"switches:", "  links: [{name: d, type: dummy, sriov: true, vlans: [5]}, {name: br1, type: linux-bridge, vlans: [0, 4095]}]\nswitches:",
			[]string{
				"nodes[0].links[0].vlans: a dummy has none", "nodes[0].links[0].sriov: a dummy has no virtual functions: give it to a NIC",
				"nodes[0].links[1].vlans[0]: 0 is not a VLAN id (1 to 4094)", "nodes[0].links[1].vlans[1]: 4095 is not a VLAN id (1 to 4094)",
			}},
		"a VLAN of a switch has one, and no ports": {
			"switches:", "switches:\n- {name: v, over: lan, vlan: 5, gateway: 198.51.100.1/24}\n- {name: w, vlan: 5, gateway: 198.51.100.1/24}",
			[]string{`switches[0].over: there is no switch "lan" before this one`, "switches[1].vlan: needs over, the switch whose VLAN this one is"}},
		"nothing is plugged into a VLAN, and a vlan that leads to it has its id": {
			"switches:", "  - {name: eth1, switch: v}\n  links: [{name: eth0.6, type: vlan, base: eth0, id: 6, switch: v}]\nswitches:\n- {name: top, gateway: 10.0.0.1/24}\n- {name: v, over: top, vlan: 5, lacp: true, gateway: 198.51.100.1/24}",
			[]string{
				"switches[1].over: a VLAN has no ports: lldp and lacp belong to switch top",
				"nodes[0].nics[1].switch: v is a VLAN of switch top: plug the NIC into that, and give the node a vlan",
				"nodes[0].links[0].id: 6, but switch v is VLAN 5",
			}},
		"a count has a limit": {
			"- name: a", "- name: a\n  count: 1000", []string{`nodes[0].count: 1000 is not between 1 and 100`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseTopology([]byte(strings.Replace(one, tt.replace, tt.by, 1)))
			var got []string
			if err != nil {
				got = strings.Split(err.Error(), "\n")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAMistakeIsToldOfTheEntryInTheFileAndOnceForAllItsCopies(t *testing.T) {
	counted := strings.Replace(one, "- name: a", "- name: a\n  count: 3", 1)
	second := strings.Replace(counted, "switches:", "- name: b\n  count: 2\n  nics:\n  - {name: eth0, switch: lna, address: 192.0.2.21/24}\nswitches:", 1)
	_, err := ParseTopology([]byte(second))
	if want := `nodes[1].nics[0].switch: unknown switch "lna" (there are: lan)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestAnEmptyFileIsSaidToBe(t *testing.T) {
	if _, err := ParseTopology(nil); err == nil || err.Error() != "the file is empty" {
		t.Errorf("got %v", err)
	}
}

func TestAnEmptyTopologySaysWhatItNeeds(t *testing.T) {
	_, err := ParseTopology([]byte("nodes: []\nswitches: []\n"))
	want := "nodes: a topology needs at least one node\nswitches: a topology needs at least one switch"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestThreeNodesCountUp(t *testing.T) {
	topology, err := ThreeNodes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range topology.Nodes {
		got = append(got, n.Name+" "+n.NICs[0].Address+" "+n.NICs[0].Address6)
	}
	want := []string{
		"node1 192.0.2.11/24 2001:db8::11/64",
		"node2 192.0.2.12/24 2001:db8::12/64",
		"node3 192.0.2.13/24 2001:db8::13/64",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoTwoFreeNICsOfTheDefaultTopologyShareASwitch(t *testing.T) {
	topology, err := ThreeNodes()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range topology.Nodes {
		plugged := map[string]string{}
		for _, nic := range n.NICs {
			if other, ok := plugged[nic.Switch]; ok {
				t.Errorf("%s: %s and %s are in switch %s, so a bridge over both is a ring", n.Name, other, nic.Name, nic.Switch)
			}
			plugged[nic.Switch] = nic.Name
		}
	}
}

func TestAGraphShowsSwitchesAndWhatIsOnANode(t *testing.T) {
	for name, tt := range map[string]struct {
		file string
		node []string
		want string
	}{
		"links stand on NICs, which are plugged into switches": {"vlan-over-bond", nil, `
┌──────────────────────┐                                   ┌───────────┐
│ switch lan           │    ┌─────────────────────────┐ ┌──┤ node eth0 ├─┐  ┌────────────────────┐    ┌────────────────┐
│ VLAN 100 of trunk    │    │ switch trunk            │ │  └───────────┘ │  │ node bond0         │    │ node bond0.100 │
│ gateway 192.0.2.1/24 ├────┤ gateway 198.51.100.1/24 ├─┤  ┌───────────┐ ├──┤ bond active-backup ├────┤ vlan 100       │
│ DNS                  │    └─────────────────────────┘ └──┤ node eth1 ├─┘  └────────────────────┘    │ 192.0.2.11/24  │
└──────────────────────┘                                   └───────────┘                              └────────────────┘
`},
		"one node of several": {"three-nodes", []string{"node2"}, `
┌───────────────────────────┐
│ switch lan                │      ┌─────────────────┐
│ gateway 192.0.2.1/24      │      │ node2 eth0      │
│ gateway 2001:db8::1/64    ├──────┤ 192.0.2.12/24   │
│ DNS                       │      │ 2001:db8::12/64 │
│ status: http on port 8080 │      └─────────────────┘
└───────────────────────────┘
┌─────────────────────────────┐
│ switch storage              │
│ gateway 198.51.100.1/24     │    ┌────────────┐
│ DHCP from 198.51.100.100    ├────┤ node2 eth1 │
│        to 198.51.100.199    │    └────────────┘
│ LLDP 02:00:00:00:00:01 tor1 │
└─────────────────────────────┘
┌─────────────────────────────┐
│ switch backup               │    ┌────────────┐
│ gateway 198.18.2.1/24       ├────┤ node2 eth2 │
│ LLDP 02:00:00:00:00:02 tor2 │    └────────────┘
└─────────────────────────────┘
`},
	} {
		topology, err := LoadTopology("topologies/" + tt.file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		text, err := graph.Text(Graph(topology, tt.node...), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), text); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The pictures of the tutorials are what lab graph --svg draws.
func TestThePicturesOfTheTutorialsAreDrawnFromTheirTopologies(t *testing.T) {
	labs, err := filepath.Glob("../../docs/examples/tutorial-*-lab.yaml")
	if err != nil || len(labs) == 0 {
		t.Fatalf("found none: %v", err)
	}
	for _, file := range append(labs, "topologies/three-nodes.yaml") {
		topology, err := LoadTopology(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), "-lab")
		if name == "three-nodes" {
			name = "tutorial-three-nodes"
		}
		want, err := graph.SVG(Graph(topology, "node1"))
		if err != nil {
			t.Fatal(err)
		}
		golden.Assert(t, want, "../../../docs/pictures/"+name+".svg", "it is not what %s looks like", file)
	}
}

// A topology that cannot be drawn would be a mistake of Graph.
func TestEveryTopologyIsDrawn(t *testing.T) {
	files, err := filepath.Glob("topologies/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found none: %v", err)
	}
	for _, file := range files {
		topology, err := LoadTopology(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, draw := range []func(graph.Graph) (string, error){graph.SVG, graph.DOT, graph.Mermaid} {
			if text, err := draw(Graph(topology)); err != nil || !strings.Contains(text, "eth0") {
				t.Errorf("%s: %v: %.80s", file, err, text)
			}
		}
	}
}

func TestTheTopologiesOfTheDocumentationAreCorrect(t *testing.T) {
	names, err := filepath.Glob("../../docs/examples/local-*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found none: %v", err)
	}
	labs, err := filepath.Glob("../../docs/examples/tutorial-*-lab.yaml")
	if err != nil || len(labs) == 0 {
		t.Fatalf("found none: %v", err)
	}
	for _, name := range append(names, labs...) {
		if _, err := LoadTopology(name); err != nil {
			t.Error(err)
		}
	}
}

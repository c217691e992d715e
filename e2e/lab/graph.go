package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/graph"
)

// Graph is the picture of a topology: switches, the NICs that are plugged into them, and
// what stands on the NICs of each node. With nodes, only those are drawn, with the
// switches that they lead to.
func Graph(t *Topology, nodes ...string) graph.Graph {
	g := graph.Graph{}
	drawn := map[string]bool{}
	var inside []graph.Node
	for _, n := range t.Nodes {
		if len(nodes) > 0 && !slices.Contains(nodes, n.Name) {
			continue
		}
		g.Groups = append(g.Groups, graph.Group{ID: n.Name, Label: n.Name})
		inside = append(inside, n.drawn()...)
		g.Edges = append(g.Edges, n.edges()...)
		for _, nic := range n.interfaces() {
			drawn[nic.Switch] = true
		}
	}
	for _, s := range t.Switches {
		drawn[s.Over] = drawn[s.Over] || drawn[s.Name]
	}
	for _, s := range t.Switches {
		if !drawn[s.Name] && len(nodes) > 0 {
			continue
		}
		g.Nodes = append(g.Nodes, graph.Node{ID: "switch " + s.Name, Kind: graph.Switch, Lines: s.lines(t.Services)})
		if s.Over != "" {
			g.Edges = append(g.Edges, graph.Edge{From: "switch " + s.Name, To: "switch " + s.Over})
		}
	}
	g.Nodes = append(g.Nodes, inside...)
	return g
}

func (n NodeSpec) id(name string) string { return n.Name + " " + name }

// drawn are the boxes of a node.
func (n NodeSpec) drawn() []graph.Node {
	var all []graph.Node
	box := func(kind graph.Kind, name string, lines ...string) {
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" || line == "none" })
		all = append(all, graph.Node{ID: n.id(name), Kind: kind, Lines: append([]string{name}, lines...), Group: n.Name})
	}
	for _, nic := range n.NICs {
		functions := ""
		if nic.SRIOV {
			functions = "SR-IOV"
		}
		box(graph.NIC, nic.Name, functions, nic.Address, nic.Address6)
	}
	for _, l := range n.made() {
		id := ""
		if l.ID != 0 {
			id = fmt.Sprint(l.ID)
		}
		box(l.kind(), l.Name, joined(l.Type, l.Mode, id), l.Address, l.Address6)
	}
	if len(n.Profiles) > 0 {
		box(graph.Other, "profiles", slices.Sorted(maps.Keys(n.Profiles))...)
	}
	return all
}

func (l LinkSpec) kind() graph.Kind {
	switch l.Type {
	case "bond", "ovs-bond":
		return graph.Bond
	case "linux-bridge", "vrf", "ovs-bridge":
		return graph.Bridge
	case "vlan", "vxlan", "mac-vlan", "ipvlan":
		return graph.VLAN
	}
	return graph.Other
}

// edges lead from switches to NICs, and from what a link stands on to the link.
func (n NodeSpec) edges() []graph.Edge {
	var all []graph.Edge
	for _, nic := range n.NICs {
		all = append(all, graph.Edge{From: "switch " + nic.Switch, To: n.id(nic.Name)})
	}
	for _, l := range n.Links {
		for _, below := range append(slices.Clone(l.Ports), l.Base) {
			if below != "" {
				all = append(all, graph.Edge{From: n.id(below), To: n.id(l.Name)})
			}
		}
		if l.Peer != "" {
			all = append(all, graph.Edge{From: n.id(l.Name), To: n.id(l.Peer)})
		}
	}
	return all
}

// lines are what is said of a switch: what it is, who is at it, and what they do.
func (s SwitchSpec) lines(services []ServiceSpec) []string {
	lines := []string{"switch " + s.Name}
	if s.Over != "" {
		lines = append(lines, fmt.Sprintf("VLAN %d of %s", s.VLAN, s.Over))
	}
	for _, gateway := range []string{s.Gateway, s.Gateway6} {
		if gateway != "" {
			lines = append(lines, "gateway "+gateway)
		}
	}
	lines = append(lines, s.offers()...)
	for _, p := range s.Peers {
		lines = append(lines, "peer "+p.Name+" "+p.Address)
	}
	for _, v := range services {
		if v.Switch == s.Name {
			lines = append(lines, fmt.Sprintf("%s: %s on port %d", v.Name, v.Type, v.Port))
		}
	}
	return lines
}

func (s SwitchSpec) offers() []string {
	var all []string
	if s.DHCP != nil {
		all = append(all, "DHCP from "+s.DHCP.From, "       to "+s.DHCP.To)
	}
	if s.DNS {
		all = append(all, "DNS")
	}
	if s.RA {
		all = append(all, "router advertisements")
	}
	if s.LACP {
		all = append(all, "LACP")
	}
	if s.LLDP != nil {
		all = append(all, strings.TrimSpace("LLDP "+s.LLDP.ChassisID+" "+s.LLDP.SystemName))
	}
	return all
}

// joined are the words that there are.
func joined(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

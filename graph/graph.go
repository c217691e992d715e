package graph

import (
	"cmp"
	"fmt"
	"slices"
)

// Kind of a node: how it is coloured, and its class in the SVG.
type Kind string

// The kinds that have a colour of their own. Any other is drawn as Other.
const (
	// Switch is a neighbour: a switch, or what else is at the far end of a cable.
	Switch Kind = "switch"
	// NIC is an interface of the hardware.
	NIC Kind = "nic"
	// Bond of several NICs.
	Bond Kind = "bond"
	// Bridge that switches between its ports.
	Bridge Kind = "bridge"
	// VLAN or another interface on top of one.
	VLAN Kind = "vlan"
	// Service is what answers in the network: a gateway, DHCP, DNS.
	Service Kind = "service"
	// Folded stands for several that are not drawn one by one.
	Folded Kind = "folded"
	// Other is all the rest.
	Other Kind = "other"
)

func kinds() []Kind { return []Kind{Switch, NIC, Bond, Bridge, VLAN, Service, Folded, Other} }

// Tone is how a node is meant.
type Tone string

// The tones.
const (
	Plain Tone = ""
	Good  Tone = "good"
	Bad   Tone = "bad"
	Busy  Tone = "busy"
	Faint Tone = "faint"
)

// Graph is what is drawn.
type Graph struct {
	// Title stands above the drawing, and is what a screen reader says.
	Title  string
	Nodes  []Node
	Edges  []Edge
	Groups []Group
}

// Node is a box.
type Node struct {
	// ID is unique in the graph; it is not drawn.
	ID   string
	Kind Kind
	Tone Tone
	// Lines of text; the first one is the name. At least one.
	Lines []string
	// Group that it stands in, empty for none.
	Group string
	// Link is where a click on it leads in the SVG; empty for nowhere.
	Link string
}

// Edge is a line from one node to another one.
type Edge struct {
	From, To string
	// Label stands at the line, but not in text, where there is no room.
	Label string
	// Tone of the line.
	Tone Tone
}

// Group is a frame around the nodes that name it.
type Group struct {
	ID    string
	Label string
}

// check says what of a graph cannot be drawn.
func (g Graph) check() error {
	nodes, groups := map[string]bool{}, map[string]bool{}
	for _, group := range g.Groups {
		if groups[group.ID] || group.ID == "" {
			return fmt.Errorf("drawing %s: group %q is there twice, or has no ID", g.Title, group.ID)
		}
		groups[group.ID] = true
	}
	for _, node := range g.Nodes {
		switch {
		case node.ID == "" || nodes[node.ID]:
			return fmt.Errorf("drawing %s: node %q is there twice, or has no ID", g.Title, node.ID)
		case len(node.Lines) == 0:
			return fmt.Errorf("drawing %s: node %q has no text", g.Title, node.ID)
		case node.Group != "" && !groups[node.Group]:
			return fmt.Errorf("drawing %s: node %q stands in group %q, which is not there", g.Title, node.ID, node.Group)
		}
		nodes[node.ID] = true
	}
	for _, edge := range g.Edges {
		if edge.From == edge.To || !nodes[edge.From] || !nodes[edge.To] {
			return fmt.Errorf("drawing %s: an edge from %q to %q, which are not two of its nodes", g.Title, edge.From, edge.To)
		}
	}
	return nil
}

// kind is one that has a colour.
func (n Node) kind() Kind {
	if slices.Contains(kinds(), n.Kind) {
		return n.Kind
	}
	return Other
}

// label of a group, by its ID.
func (g Graph) label(group string) string {
	for _, one := range g.Groups {
		if one.ID == group {
			return cmp.Or(one.Label, one.ID)
		}
	}
	return ""
}

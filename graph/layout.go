package graph

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/d2lang/dagro"
)

// box is where something stands: its centre and its size.
type box struct {
	x, y, width, height float64
}

// line is where an edge runs: its corners, and the middle of its label.
type line struct {
	points []dagro.Point
	label  box
}

// spacing of a layout.
type spacing struct {
	// between boxes above each other, and between columns
	node, rank float64
	// size of a box, and of an edge's label
	size  func(Node) (width, height float64)
	label func(Edge) (width, height float64)
	// framed: groups are frames; otherwise they do not count.
	framed bool
}

// layout of a graph, in its order.
type layout struct {
	nodes  []box
	edges  []line
	groups []box
	width  float64
	height float64
}

// lay lets the library decide where everything stands. It knows nodes by their number,
// so that no name of ours is one that it reserves.
func lay(g Graph, s spacing) (layout, error) {
	if len(g.Nodes) == 0 { // The library cannot do that.
		return layout{groups: make([]box, len(g.Groups))}, nil
	}
	d := dagro.NewGraph(dagro.GraphOptions{Multigraph: true, Compound: true})
	d.SetGraph(dagro.Attrs{"rankdir": "LR", "nodesep": s.node, "edgesep": s.node, "ranksep": s.rank})
	number := map[string]string{}
	if s.framed {
		for i, group := range g.Groups {
			number["g "+group.ID] = "g" + strconv.Itoa(i)
			if slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Group == group.ID }) {
				d.SetNode("g"+strconv.Itoa(i), dagro.Attrs{})
			}
		}
	}
	for i, node := range g.Nodes {
		name := "n" + strconv.Itoa(i)
		number["n "+node.ID] = name
		width, height := s.size(node)
		d.SetNode(name, dagro.Attrs{"width": width, "height": height})
		if s.framed && node.Group != "" {
			if err := d.SetParent(name, number["g "+node.Group]); err != nil {
				return layout{}, fmt.Errorf("drawing %s: %w", g.Title, err)
			}
		}
	}
	for i, edge := range g.Edges {
		width, height := s.label(edge)
		d.SetEdge(number["n "+edge.From], number["n "+edge.To], dagro.Attrs{"width": width, "height": height, "labelpos": "c"}, strconv.Itoa(i))
	}
	if err := dagro.Layout(d); err != nil {
		return layout{}, fmt.Errorf("drawing %s: %w", g.Title, err)
	}
	var laid layout
	for i := range g.Nodes {
		laid.nodes = append(laid.nodes, boxOf(d.Node("n"+strconv.Itoa(i))))
	}
	for i, edge := range g.Edges {
		attrs, _ := d.EdgeByArgs(number["n "+edge.From], number["n "+edge.To], strconv.Itoa(i)).(dagro.Attrs)
		points, _ := attrs["points"].([]dagro.Point)
		laid.edges = append(laid.edges, line{points: points, label: boxOf(attrs)})
	}
	for i := range g.Groups {
		laid.groups = append(laid.groups, boxOf(d.Node("g"+strconv.Itoa(i))))
	}
	whole, _ := d.Graph().(dagro.Attrs)
	laid.width, laid.height = number64(whole["width"]), number64(whole["height"])
	laid.turn(g)
	return laid, nil
}

func boxOf(attrs any) box {
	a, _ := attrs.(dagro.Attrs)
	return box{x: number64(a["x"]), y: number64(a["y"]), width: number64(a["width"]), height: number64(a["height"])}
}

func number64(value any) float64 {
	switch n := value.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	}
	return 0
}

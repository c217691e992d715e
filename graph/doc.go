// Package graph draws a graph of boxes and lines: as text for a terminal, as SVG, as
// Mermaid, and as DOT. The layout is made by a library (dagro, a port of dagre).
//
// It owns how a box and a line look and where they stand. It is pure: a Graph goes in,
// text comes out, the same text for the same Graph. It knows nothing of networks: the
// caller says which boxes there are, what is written in them, and of which Kind they
// are.
//
//	caller ─► Graph{Nodes, Edges, Groups} ─┬─► Text     boxes of a terminal
//	                                       ├─► SVG      for a page; light and dark
//	                                       ├─► Mermaid  for Markdown
//	                                       └─► DOT      for Graphviz
//
// A caller fills in the lists; their order is the order of the drawing where the layout
// leaves a choice:
//
//	g := graph.Graph{
//		Title: "node1",
//		Nodes: []graph.Node{
//			{ID: "switch", Kind: graph.Switch, Lines: []string{"tor-a", "port 7"}},
//			{ID: "eth0", Kind: graph.NIC, Lines: []string{"eth0", "192.0.2.11/24"}},
//		},
//		Edges: []graph.Edge{{From: "switch", To: "eth0"}},
//	}
//	text, err := graph.Text(g, nil)
//
// Edges run from left to right: from what is outside, over NICs, to what stands on them.
// A Group is a frame around boxes (a node of a lab); in text, where there are no frames,
// its label stands before the first line of each box. What a Node is about is its ID; two
// nodes with the same ID, and an edge or group that names none, are an error.
package graph

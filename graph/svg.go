package graph

import (
	_ "embed" // The style sheet.
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/d2lang/dagro"
)

// Sizes of an SVG in pixels.
const (
	letterWide = 7.3
	lineHigh   = 16.0
	padding    = 9.0
	margin     = 14.0
	titleHigh  = 24.0
)

//go:embed style.css
var style string

// SVG is a picture that needs nothing else: no font, no script, no other file. It has
// colours for light and for dark, by what the reader's system prefers. Each node is a
// <g class="node KIND TONE" data-id="ID">; one with a Link is an <a> around it.
func SVG(g Graph) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	laid, err := lay(g, spacing{
		node: 18, rank: 70, framed: true,
		size: func(n Node) (float64, float64) {
			wide := 0
			for _, text := range n.Lines {
				wide = max(wide, utf8.RuneCountInString(text))
			}
			return float64(wide)*letterWide + 2*padding, float64(len(n.Lines))*lineHigh + 2*padding - 4
		},
		label: func(e Edge) (float64, float64) {
			if e.Label == "" {
				return 0, 0
			}
			return float64(utf8.RuneCountInString(e.Label))*letterWide + 6, lineHigh
		},
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	top := margin
	if g.Title != "" {
		top += titleHigh
	}
	width := max(laid.width, float64(utf8.RuneCountInString(g.Title))*letterWide) + 2*margin
	height := laid.height + top + margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" class="graph" role="img" aria-label="%s" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n",
		escaped(g.Title), width, height, width, height)
	fmt.Fprintf(&b, "<style>\n%s</style>\n", style)
	if g.Title != "" {
		fmt.Fprintf(&b, `<text class="title" x="%.0f" y="%.0f">%s</text>`+"\n", margin, margin+12, escaped(g.Title))
	}
	fmt.Fprintf(&b, `<g transform="translate(%.0f,%.0f)">`+"\n", margin, top)
	for i, group := range g.Groups {
		if frame := laid.groups[i]; frame.width > 0 {
			fmt.Fprintf(&b, `<g class="group"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="8"/><text x="%.1f" y="%.1f">%s</text></g>`+"\n",
				frame.x-frame.width/2, frame.y-frame.height/2, frame.width, frame.height, frame.x-frame.width/2+8, frame.y-frame.height/2+14, escaped(g.label(group.ID)))
		}
	}
	for i, edge := range g.Edges {
		drawEdge(&b, edge, laid.edges[i])
	}
	for i, node := range g.Nodes {
		drawNode(&b, node, laid.nodes[i])
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String(), nil
}

func drawEdge(b *strings.Builder, edge Edge, l line) {
	fmt.Fprintf(b, `<path class="edge %s" d="%s"/>`+"\n", edge.Tone, curve(l.points))
	if edge.Label != "" {
		fmt.Fprintf(b, `<rect class="behind" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/><text class="label" x="%.1f" y="%.1f">%s</text>`+"\n",
			l.label.x-l.label.width/2, l.label.y-l.label.height/2, l.label.width, l.label.height, l.label.x, l.label.y+4, escaped(edge.Label))
	}
}

// curve runs through the points; it leaves and enters each of them to the right.
func curve(points []dagro.Point) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			fmt.Fprintf(&b, "M%.1f %.1f", p.X, p.Y)
			continue
		}
		half := (points[i-1].X + p.X) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", half, points[i-1].Y, half, p.Y, p.X, p.Y)
	}
	return b.String()
}

func drawNode(b *strings.Builder, node Node, at box) {
	if node.Link != "" {
		fmt.Fprintf(b, `<a href="%s">`, escaped(node.Link))
	}
	fmt.Fprintf(b, `<g class="node %s %s" data-id="%s"><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5"/>`,
		node.kind(), node.Tone, escaped(node.ID), at.x-at.width/2, at.y-at.height/2, at.width, at.height)
	for i, text := range node.Lines {
		class := "line"
		if i == 0 {
			class = "name"
		}
		fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%.1f">%s</text>`, class, at.x-at.width/2+padding, at.y-at.height/2+padding+float64(i)*lineHigh+10, escaped(text))
	}
	b.WriteString("</g>")
	if node.Link != "" {
		b.WriteString("</a>")
	}
	b.WriteString("\n")
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // A strings.Builder takes everything.
	return b.String()
}

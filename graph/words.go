package graph

import (
	"fmt"
	"strconv"
	"strings"
)

// Mermaid is a flowchart for Markdown that draws Mermaid.
func Mermaid(g Graph) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	if g.Title != "" {
		fmt.Fprintf(&b, "---\ntitle: %s\n---\n", strconv.Quote(g.Title))
	}
	b.WriteString("flowchart LR\n")
	nodes := func(group, indent string) {
		for i, node := range g.Nodes {
			if node.Group == group {
				fmt.Fprintf(&b, "%sn%d[\"%s\"]%s\n", indent, i, mermaidText(strings.Join(node.Lines, "\n")), mermaidClass(node))
			}
		}
	}
	nodes("", "  ")
	for i, group := range g.Groups {
		fmt.Fprintf(&b, "  subgraph g%d [\"%s\"]\n", i, mermaidText(g.label(group.ID)))
		nodes(group.ID, "    ")
		b.WriteString("  end\n")
	}
	for _, edge := range g.Edges {
		label := ""
		if edge.Label != "" {
			label = `|"` + mermaidText(edge.Label) + `"|`
		}
		fmt.Fprintf(&b, "  n%d ---%s n%d\n", g.index(edge.From), label, g.index(edge.To))
	}
	// Colours that can be read on light and on dark.
	b.WriteString("  classDef bad stroke:#cf222e,stroke-width:2px\n  classDef busy stroke:#bf8700,stroke-width:2px\n" +
		"  classDef good stroke:#1a7f37\n  classDef faint stroke-dasharray:4\n")
	return b.String(), nil
}

func mermaidClass(n Node) string {
	if n.Tone == Plain {
		return ""
	}
	return ":::" + string(n.Tone)
}

// mermaidText leaves nothing in a text that Mermaid or HTML would read as more than text.
func mermaidText(text string) string {
	return strings.NewReplacer("#", "#35;", "&", "#38;", `"`, "#34;", "<", "#60;", ">", "#62;", "`", "#96;", "\n", "<br>").Replace(text)
}

// DOT is a graph for Graphviz.
func DOT(g Graph) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "graph %s {\n  rankdir=LR\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n", dotText(g.Title))
	if g.Title != "" {
		fmt.Fprintf(&b, "  label=%s\n", dotText(g.Title))
	}
	nodes := func(group, indent string) {
		for _, node := range g.Nodes {
			if node.Group == group {
				fmt.Fprintf(&b, "%s%s [label=%s%s]\n", indent, dotText(node.ID), dotText(strings.Join(node.Lines, "\n")), dotLook(node.Tone))
			}
		}
	}
	nodes("", "  ")
	for i, group := range g.Groups {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s\n", i, dotText(g.label(group.ID)))
		nodes(group.ID, "    ")
		b.WriteString("  }\n")
	}
	for _, edge := range g.Edges {
		look := ""
		if edge.Label != "" {
			look = " [label=" + dotText(edge.Label) + "]"
		}
		fmt.Fprintf(&b, "  %s -- %s%s\n", dotText(edge.From), dotText(edge.To), look)
	}
	b.WriteString("}\n")
	return b.String(), nil
}

func dotLook(tone Tone) string {
	switch tone {
	case Bad:
		return ", color=red"
	case Busy:
		return ", color=orange"
	case Good:
		return ", color=darkgreen"
	case Faint:
		return `, style="rounded,dashed"`
	}
	return ""
}

// dotText quotes a text.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/golden"
)

// node is a node with its ID as its name.
func node(kind Kind, id string, lines ...string) Node {
	return Node{ID: id, Kind: kind, Lines: append([]string{id}, lines...)}
}

// edges are written "from to, from to".
func edges(written string) []Edge {
	var all []Edge
	for one := range strings.SplitSeq(written, ",") {
		if ends := strings.Fields(one); len(ends) == 2 {
			all = append(all, Edge{From: ends[0], To: ends[1]})
		}
	}
	return all
}

func samples() map[string]Graph {
	failing := node(Bridge, "br1", "192.0.2.1/24", "policy: mtu")
	failing.Tone, failing.Link = Bad, "/nodes/node1#br1"
	grouped := Graph{
		Title:  `two nodes of a lab <& "quoted">`,
		Groups: []Group{{ID: "1", Label: "node1"}, {ID: "2", Label: "node2"}, {ID: "empty"}},
		Nodes: []Node{
			node(Switch, "lan", "192.0.2.1/24"),
			{ID: "1.eth0", Group: "1", Kind: NIC, Lines: []string{"eth0"}}, {ID: "1.br0", Group: "1", Kind: Bridge, Lines: []string{"br0"}},
			{ID: "2.eth0", Group: "2", Kind: NIC, Lines: []string{"eth0"}, Tone: Faint},
		},
		Edges: []Edge{{From: "lan", To: "1.eth0", Label: "access 10"}, {From: "lan", To: "2.eth0"}, {From: "1.eth0", To: "1.br0", Tone: Busy}},
	}
	return map[string]Graph{
		"bond of two switches": {
			Title: "node1",
			Nodes: []Node{
				node(Switch, "tor-a", "chassis 02:00"), node(Switch, "tor-b"), node(NIC, "eth0", "mtu 1500"), node(NIC, "eth1"), node(NIC, "eth2"),
				node(Bond, "bond0", "active-backup"), node(VLAN, "bond0.100", "10.0.0.1/8"), node(VLAN, "bond0.200"), failing, node(NIC, "eth3", "alone"),
				node(Folded, "pods", "8 veths of pods"),
			},
			Edges: edges("tor-a eth0, tor-b eth1, tor-a eth2, eth0 bond0, eth1 bond0, bond0 bond0.100, bond0 bond0.200, bond0.200 br1, eth2 br1, pods br1"),
		},
		"each of two with each of two": {
			Nodes: []Node{node(Other, "a"), node(Other, "b"), node(Other, "x"), node(Other, "y"), node(Other, "z")},
			Edges: edges("a x, a y, b x, b y, x z, a z"),
		},
		"a line that passes under another one": {
			Nodes: []Node{node(Other, "a"), node(Other, "b"), node(Other, "c"), node(Other, "x"), node(Other, "y"), node(Other, "z")},
			Edges: edges("a x, a y, a z, b x, b z, c x, c y"),
		},
		"a circle": {
			Nodes: []Node{node(Other, "a"), node(Other, "b"), node(Other, "c")},
			Edges: edges("a b, b c, c a"),
		},
		"groups": grouped,
		"nothing": {
			Title: "node2: nothing is reported",
		},
	}
}

// TestDrawings draws the samples, in testdata. To see what a change does to them:
// make golden, git diff, and look at the SVGs.
func TestDrawings(t *testing.T) {
	for name, g := range samples() {
		for ending, draw := range map[string]func(Graph) (string, error){
			"txt": func(g Graph) (string, error) { return Text(g, nil) }, "svg": SVG, "mermaid": Mermaid, "dot": DOT,
		} {
			t.Run(name+"/"+ending, func(t *testing.T) {
				got, err := draw(g)
				if err != nil {
					t.Fatal(err)
				}
				golden.Assert(t, got, strings.ReplaceAll(name, " ", "-")+"."+ending)
				if again, _ := draw(g); again != got {
					t.Error("drawn twice it is not the same")
				}
				if ending == "svg" {
					checkXML(t, got)
				}
			})
		}
	}
}

// checkXML reads all of an SVG, which must not load anything.
func checkXML(t *testing.T, text string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if element, is := token.(xml.StartElement); is && (element.Name.Local == "script" || element.Name.Local == "image") {
			t.Errorf("there is a <%s>", element.Name.Local)
		}
	}
}

func TestPaint(t *testing.T) {
	g := Graph{Nodes: []Node{{ID: "a", Tone: Bad, Lines: []string{"a"}}, {ID: "b", Lines: []string{"b"}}}, Edges: edges("a b")}
	got, err := Text(g, func(tone Tone, text string) string { return "<" + string(tone) + ":" + text + ">" })
	const want = "<bad:┌───┐>    ┌───┐\n<bad:│ a ├>────┤ b │\n<bad:└───┘>    └───┘\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant:\n%s", err, got, want)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	a := node(NIC, "a")
	for want, g := range map[string]Graph{
		`node "a" is there twice`:                         {Nodes: []Node{a, a}},
		`node "" is there twice, or has no ID`:            {Nodes: []Node{{Lines: []string{"a"}}}},
		`node "a" has no text`:                            {Nodes: []Node{{ID: "a"}}},
		`stands in group "g", which is not there`:         {Nodes: []Node{{ID: "a", Lines: []string{"a"}, Group: "g"}}},
		`from "a" to "b", which are not two of its nodes`: {Nodes: []Node{a}, Edges: edges("a b")},
		`from "a" to "a", which are not two of its nodes`: {Nodes: []Node{a}, Edges: edges("a a")},
		`group "g" is there twice, or has no ID`:          {Groups: []Group{{ID: "g"}, {ID: "g"}}},
	} {
		for _, draw := range []func(Graph) (string, error){func(g Graph) (string, error) { return Text(g, nil) }, SVG, Mermaid, DOT} {
			if _, err := draw(g); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// TestTextSaysWhatTheEdgesAre follows the lines of random drawings: from each box they
// lead to exactly those boxes that the graph has edges to.
func TestTextSaysWhatTheEdgesAre(t *testing.T) {
	for seed := range int64(300) {
		chance := rand.New(rand.NewSource(seed))
		g := Graph{}
		for i := range 3 + chance.Intn(7) {
			lines := []string{string(rune('A' + i))}
			for range chance.Intn(3) {
				lines = append(lines, strings.Repeat("-", 1+chance.Intn(6)))
			}
			g.Nodes = append(g.Nodes, Node{ID: lines[0], Lines: lines})
		}
		// Layers, as networks have, with one line between each two boxes at most.
		for to := 1; to < len(g.Nodes); to++ {
			for from := range to {
				if chance.Intn(3) == 0 {
					g.Edges = append(g.Edges, Edge{From: g.Nodes[from].ID, To: g.Nodes[to].ID})
				}
			}
		}
		text, err := Text(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]bool{}
		for _, edge := range g.Edges {
			want[edge.From+edge.To] = true
		}
		if diff := cmp.Diff(want, follow(text)); diff != "" {
			t.Errorf("seed %d: -edges +drawn:\n%s\n%s", seed, diff, text)
		}
	}
}

// TestManyNodes draws what a node with many interfaces has.
func TestManyNodes(t *testing.T) {
	g := Graph{Nodes: []Node{node(Switch, "switch")}}
	for i := range 150 {
		nic, vlan := fmt.Sprintf("eth%d", i), fmt.Sprintf("eth%d.7", i)
		g.Nodes = append(g.Nodes, node(NIC, nic), node(VLAN, vlan))
		g.Edges = append(g.Edges, Edge{From: "switch", To: nic}, Edge{From: nic, To: vlan})
	}
	began := time.Now()
	text, err := Text(g, nil)
	if err != nil || strings.Count(text, "eth") != 300 {
		t.Errorf("%v\n%s", err, text)
	}
	t.Logf("text of %d nodes took %s", len(g.Nodes), time.Since(began))
}

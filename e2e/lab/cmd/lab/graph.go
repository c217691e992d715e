//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/e2e/lab/rebuild"
	"github.com/nmstate/kubernetes-nmstate/graph"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// drawing are the flags of lab graph.
type drawing struct {
	*where
	topology, report, node string
	svg                    bool
}

func newGraph(w *where) *cobra.Command {
	d := &drawing{where: w}
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw a lab, a topology, or the interfaces that a node reports",
		Long: `Draw a lab, a topology, or the interfaces that a node reports.

Lines lead from switches to NICs, and from there to what stands on them. --report
reads what lab from-nns reads: NodeNetworkStates, or a state as nmstatectl show
prints it.`,
		Example: `  lab graph
  lab graph -f topology.yaml --svg >topology.svg
  kubectl get nns node1 -o yaml | lab graph --report -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := d.graphs(cmd.InOrStdin())
			if err != nil {
				return err
			}
			for _, g := range all {
				picture, err := d.draw(g)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprint(cmd.OutOrStdout(), picture); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&d.topology, "file", "f", "", "draw this topology, which need not be up")
	f.StringVar(&d.report, "report", "", "draw what is reported in this file; - is standard input")
	f.StringVar(&d.node, "node", "", "draw this node only")
	f.BoolVar(&d.svg, "svg", false, "draw an SVG instead of text")
	cmd.MarkFlagsMutuallyExclusive("file", "report")
	return cmd
}

func (d *drawing) draw(g graph.Graph) (string, error) {
	if d.svg {
		return graph.SVG(g)
	}
	return graph.Text(g, nil)
}

// graphs are the lab's, unless a file is given; one for each node that is reported.
func (d *drawing) graphs(in io.Reader) ([]graph.Graph, error) {
	if d.report != "" {
		return d.reported(in)
	}
	var t *lab.Topology
	if d.topology != "" {
		var err error
		if t, err = lab.LoadTopology(d.topology); err != nil {
			return nil, err
		}
	} else {
		l, err := lab.Open(d.root, d.name)
		if err != nil {
			return nil, err
		}
		t = l.Topology()
	}
	if d.node == "" {
		return []graph.Graph{lab.Graph(t)}, nil
	}
	for _, n := range t.Nodes {
		if n.Name == d.node {
			return []graph.Graph{lab.Graph(t, d.node)}, nil
		}
	}
	return nil, fmt.Errorf("there is no node %s", d.node)
}

func (d *drawing) reported(in io.Reader) ([]graph.Graph, error) {
	if d.report != "-" {
		f, err := os.Open(d.report)
		if err != nil {
			return nil, fmt.Errorf("reading the report: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	reports, err := rebuild.Read(raw)
	if err != nil {
		return nil, &noReportError{d.report, err}
	}
	var all []graph.Graph
	for _, r := range reports {
		if d.node != "" && d.node != r.Name {
			continue
		}
		nns := &v1.NodeNetworkState{}
		nns.Name, nns.Status.CurrentState.Raw = r.Name, r.State.JSON()
		g, err := view.Topology(nns, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	if len(all) == 0 {
		return nil, &noReportError{d.report, errors.New("there is no node " + d.node + " in it")}
	}
	return all, nil
}

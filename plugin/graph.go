package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/graph"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// graphOutputs are the formats of graph.
var graphOutputs = [...]string{"text", "svg", "mermaid", "dot"}

func (p *plugin) graphCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "graph NODE",
		Short: "Draw a node's network: neighbours, NICs, bonds, bridges, VLANs, and who set them",
		Long: `graph draws what a node last reported, from left to right: the neighbours that LLDP
has heard, NICs, and what stands on them. Each box has the interface's addresses,
the policies that set anything of it, and its drift. An interface that policies
want and that is not there is drawn, too. Veths that nobody manages, as pods have
them, are one box for each bridge.

A line that ends at │ and goes on behind it passes under it.`,
		Example: `  kubectl nmstate graph node1

  # A picture for a browser or a ticket; a diagram for Markdown
  kubectl nmstate graph node1 -o svg > node1.svg
  kubectl nmstate graph node1 -o mermaid`,
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: p.complete(nodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(graphOutputs[:], output) {
				return fmt.Errorf("%w: --output %q: there are %s", errUsage, output, strings.Join(graphOutputs[:], ", "))
			}
			return p.graph(cmd.Context(), args[0], output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, svg, mermaid or dot")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(graphOutputs[:], cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (p *plugin) graph(ctx context.Context, node, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var state v1.NodeNetworkState
	if err := api.Get(ctx, client.ObjectKey{Name: node}, &state); err != nil {
		return explained("reading the state of node "+node, err)
	}
	drawing, err := view.Topology(&state, nil)
	if err != nil {
		return err
	}
	text, err := p.draw(drawing, output)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(p.Out, text)
	return err
}

func (p *plugin) draw(drawing graph.Graph, output string) (string, error) {
	switch output {
	case "svg":
		return graph.SVG(drawing)
	case "mermaid":
		return graph.Mermaid(drawing)
	case "dot":
		return graph.DOT(drawing)
	}
	tones := map[graph.Tone]view.Tone{graph.Good: view.Good, graph.Bad: view.Bad, graph.Busy: view.Busy, graph.Faint: view.Faint}
	paint := p.paint()
	return graph.Text(drawing, func(tone graph.Tone, text string) string { return paint(tones[tone], text) })
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) historyCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "history NODE",
		Short: "List the last ten changes of a node's network, and how each ended",
		Long: `history lists the last ten transactions of a node, the newest first: when each
ended, how long it took, how it ended, which policy it was about, and why it
failed. Attempts that came to the same, one after the other, are one line. The
node keeps them in status.history of its NodeNetworkState.`,
		Example:           "  kubectl nmstate history node1",
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: p.complete(nodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return p.history(cmd.Context(), args[0], output)
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) history(ctx context.Context, node, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var state v1.NodeNetworkState
	if err := api.Get(ctx, client.ObjectKey{Name: node}, &state); err != nil {
		return explained("reading the state of node "+node, err)
	}
	history := state.Status.History
	switch {
	case output != "" && history == nil:
		return p.printValue([]v1.PastTransaction{}, output)
	case output != "":
		return p.printValue(history, output)
	case len(history) == 0:
		fmt.Fprintf(p.Out, "node %s remembers no change\n", node)
		return nil
	}
	p.print(view.HistoryTable(history, p.paint()))
	return nil
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) driftCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "drift [NODE]",
		Short: "List what is not as a policy brought it to, on all nodes or one",
		Long: `drift lists each difference between what policies brought the nodes to and what
is there: where, expected and found value, whose it is, and what is done about it.`,
		Example: `  kubectl nmstate drift
  kubectl nmstate drift node1`,
		Args:              usage(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.complete(nodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return p.drift(cmd.Context(), strings.Join(args, ""), output)
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) drift(ctx context.Context, node, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var only []string
	if node != "" {
		only = append(only, node)
	}
	var states []v1.NodeNetworkState
	err = eachState(ctx, api, only, func(state *v1.NodeNetworkState) error {
		states = append(states, v1.NodeNetworkState{ObjectMeta: state.ObjectMeta, Status: v1.NodeNetworkStateStatus{Drift: state.Status.Drift}})
		return nil
	})
	if err != nil {
		return err
	}
	found := view.Drifts(states)
	if output != "" {
		return p.printValue(found, output)
	}
	p.print(view.DriftTable(found, len(states), p.clock.Now()))
	return nil
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	var list v1.NodeNetworkStateList
	if node != "" {
		var one v1.NodeNetworkState
		err = api.Get(ctx, client.ObjectKey{Name: node}, &one)
		list.Items = append(list.Items, one)
	} else {
		err = api.List(ctx, &list)
	}
	if err != nil {
		return explained("reading what the nodes report", err)
	}
	found := view.Drifts(list.Items)
	if output != "" {
		return p.printValue(found, output)
	}
	p.print(view.DriftTable(found, len(list.Items), p.clock.Now()))
	return nil
}

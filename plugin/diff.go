package main

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) diffCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "diff NODE",
		Short: "Compare what a node has with what is wanted there, as unified text",
		Long: `diff compares what a node reports with its desired state, setting by setting: what
is wanted and not there has a +, what is there instead a -. Each policy that is
not applied on the node, since it failed there or waits, is compared too. What
nobody wants is left out.

Exit codes are those of kubectl diff: 0 nothing differs, 1 something does, 2 it
failed.`,
		Example: `  kubectl nmstate diff node1

  # The paths alone
  kubectl nmstate diff node1 -o json | jq -r '.[].differences[].path'`,
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: p.complete(nodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return trouble(p.diff(cmd.Context(), args[0], output))
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) diff(ctx context.Context, node, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	state, enactments, err := ofNode(ctx, api, node)
	if err != nil {
		return err
	}
	found, err := view.NodeDiffs(state, enactments)
	if err != nil {
		return err
	}
	if output != "" {
		if err := p.printValue(found, output); err != nil {
			return err
		}
	}
	for _, one := range found {
		if output == "" {
			p.print(one.Lines(p.paint()))
		}
	}
	if len(found) > 0 {
		return errSaid
	}
	return nil
}

// ofNode reads a node's state and enactments.
func ofNode(ctx context.Context, api client.Client, node string) (*v1.NodeNetworkState, []v1.NodeNetworkConfigurationEnactment, error) {
	var state v1.NodeNetworkState
	if err := api.Get(ctx, client.ObjectKey{Name: node}, &state); err != nil {
		return nil, nil, explained("reading the state of node "+node, err)
	}
	var list v1.NodeNetworkConfigurationEnactmentList
	if err := api.List(ctx, &list, client.MatchingLabels{v1.EnactmentNodeLabel: node}); err != nil {
		return nil, nil, explained("reading the enactments", err)
	}
	return &state, list.Items, nil
}

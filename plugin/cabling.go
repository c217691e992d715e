package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) cablingCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "cabling",
		Short: "Compare what switches announce by LLDP with what the nodes need",
		Long: `cabling lists the neighbours that LLDP has heard on all nodes, and what does not
fit: a VLAN of a node that its switch port does not carry, a bond whose legs all end
at one switch, a node whose port carries other VLANs than those of most nodes, and
cables that are swapped. Nodes hear where a policy says lldp: {enabled: true}.
Exit codes are those of kubectl diff: 0 everything fits, 1 something does not, 2 it
failed.`,
		Example: `  kubectl nmstate cabling
  kubectl nmstate cabling -o json | jq '.[] | select(.findings != [])'`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return trouble(p.cabling(cmd.Context(), output))
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) cabling(ctx context.Context, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	var states []v1.NodeNetworkState
	err = eachState(ctx, api, nil, func(state *v1.NodeNetworkState) error {
		states = append(states, *state)
		return nil
	})
	if err != nil {
		return err
	}
	cables, err := view.Cabling(states)
	switch {
	case err != nil:
		return err
	case output != "":
		if err := p.printValue(cables, output); err != nil {
			return err
		}
	case len(cables) == 0:
		fmt.Fprintf(p.Out, "%d nodes have heard no neighbour: LLDP is on where a policy says lldp: {enabled: true}\n", len(states))
	default:
		p.print(view.CablingTable(cables, p.paint()))
	}
	if slices.ContainsFunc(cables, func(c view.Cable) bool { return len(c.Findings) > 0 }) {
		return errSaid
	}
	return nil
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) whyCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "why POLICY|NODE",
		Short: "Tell why a policy fails, or what fails on a node, and what to do",
		Long: `why tells of each failure the node, the step of the change, the evidence that the
node has, what the node did about it, when it is tried again, and what to do.
A name that is both a policy's and a node's is taken for the policy.`,
		Example: `  # On which nodes a policy fails
  kubectl nmstate why bridge

  # What fails on a node
  kubectl nmstate why node1`,
		Args:              usage(cobra.ExactArgs(1)),
		ValidArgsFunction: p.complete(policies, nodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return p.why(cmd.Context(), args[0], output)
		},
	}
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) why(ctx context.Context, name, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	about, err := subject(ctx, api, name)
	if err != nil {
		return err
	}
	var list v1.NodeNetworkConfigurationEnactmentList
	if err := api.List(ctx, &list); err != nil {
		return explained("reading the enactments", err)
	}
	var own []v1.NodeNetworkConfigurationEnactment
	for i := range list.Items {
		if enactment := &list.Items[i]; about == policies && enactment.Policy() == name || about == nodes && enactment.Node() == name {
			own = append(own, *enactment)
		}
	}
	failures := view.Failures(own)
	switch {
	case output != "":
		return p.printValue(failures, output)
	case len(failures) == 0 && about == policies:
		fmt.Fprintf(p.Out, "policy %s fails on no node; kubectl nmstate status %s tells how it fares\n", name, name)
	case len(failures) == 0:
		fmt.Fprintf(p.Out, "no policy fails on node %s\n", name)
	}
	for _, failure := range failures {
		p.print(failure.Lines(p.paint()))
	}
	return nil
}

// subject tells whether the name is a policy's or a node's.
func subject(ctx context.Context, api client.Client, name string) (kind, error) {
	var policy v1.NodeNetworkConfigurationPolicy
	err := api.Get(ctx, client.ObjectKey{Name: name}, &policy)
	if !apierrors.IsNotFound(err) {
		return policies, explained("reading policy "+name, err)
	}
	var state v1.NodeNetworkState
	err = api.Get(ctx, client.ObjectKey{Name: name}, &state)
	if apierrors.IsNotFound(err) {
		return nodes, fmt.Errorf("there is neither a policy nor a node called %s", name)
	}
	return nodes, explained("reading the state of node "+name, err)
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

func (p *plugin) whyCommand() *cobra.Command {
	output := ""
	cmd := &cobra.Command{
		Use:   "why POLICY|NODE | NODE INTERFACE[.KEY]",
		Short: "Tell why a policy fails, what fails on a node, or who has set an interface",
		Long: `why tells of each failure the node, the step of the change, the evidence that the
node has, what the node did about it, when it is tried again, and what to do.
A name that is both a policy's and a node's is taken for the policy.

Of an interface on a node it tells each setting that policies make there: which
policy, for how long, which value was there before, whether something else was found
since (drift), and what becomes of it when the policy goes: what an undo brings back.
Nodes tell the values of before in status.before of their NodeNetworkState.`,
		Example: `  # On which nodes a policy fails
  kubectl nmstate why bridge

  # What fails on a node
  kubectl nmstate why node1

  # Who has set an interface, or a part of it
  kubectl nmstate why node1 eth1
  kubectl nmstate why node1 br1.ipv4`,
		Args:              usage(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: p.completeWhy,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			if len(args) == 2 {
				return p.whySet(cmd.Context(), args[0], args[1], output)
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

// whySet tells who has set an interface, or a part of it.
func (p *plugin) whySet(ctx context.Context, node, what, output string) error {
	api, err := p.connect()
	if err != nil {
		return err
	}
	state, enactments, err := ofNode(ctx, api, node)
	if err != nil {
		return err
	}
	all, err := view.Interfaces(state)
	if err != nil {
		return err
	}
	name, key := view.SplitInterface(what, all, state)
	if name == "" {
		return fmt.Errorf("node %s has no interface %s, and no policy wants one there; kubectl nmstate get interfaces --node %s lists them", node, what, node)
	}
	settings, err := view.Settings(state, enactments, name, key)
	switch {
	case err != nil:
		return err
	case output != "":
		return p.printValue(settings, output)
	case len(settings) == 0:
		fmt.Fprintf(p.Out, "no policy sets anything of %s on node %s\n", what, node)
		return nil
	}
	p.print(view.SettingTable(settings, p.clock.Now()))
	return nil
}

// completeWhy completes a policy or a node, and behind a node its interfaces.
func (p *plugin) completeWhy(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return p.complete(policies, nodes)(cmd, args, begun)
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	api, err := p.connect()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var state v1.NodeNetworkState
	if err := api.Get(ctx, client.ObjectKey{Name: args[0]}, &state); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	all, err := view.Interfaces(&state)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, one := range all {
		if strings.HasPrefix(one.Name, begun) {
			names = append(names, one.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/plugin/view"
)

// statesAtOnce are so many states of nodes in one answer: each may have half a megabyte.
const statesAtOnce = 50

func (p *plugin) getCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "get",
		Short:   "List what nodes have: get interfaces",
		Example: "  kubectl nmstate get interfaces",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%w: what? there is: kubectl nmstate get interfaces", errUsage)
			}
			return fmt.Errorf("%w: there is no %q to get, there is: kubectl nmstate get interfaces", errUsage, args[0])
		},
	}
	cmd.AddCommand(p.interfacesCommand())
	return cmd
}

func (p *plugin) interfacesCommand() *cobra.Command {
	where, output := "", ""
	var only []string
	cmd := &cobra.Command{
		Use:     "interfaces",
		Aliases: []string{"interface", "iface", "ifaces"},
		Short:   "List the interfaces of all nodes, or those for which an expression holds",
		Long: `get interfaces lists what the nodes last reported: type, state, MTU, MAC address,
addresses, and the policies that set anything of the interface.

--where takes a CEL expression (https://cel.dev) with the variables node, name,
type, state, mac and controller (text), mtu (a number, 0 where there is none),
addresses (such as 192.0.2.1/24) and policies (lists), and with CEL's functions
for network addresses.`,
		Example: `  kubectl nmstate get interfaces --node node1
  kubectl nmstate get interfaces --where 'mtu > 1500'
  kubectl nmstate get interfaces --where 'type == "ethernet" && state != "up"'

  # Where an address is in use, and what nobody manages
  kubectl nmstate get interfaces --where 'addresses.exists(a, cidr("192.0.2.0/24").containsCIDR(a))'
  kubectl nmstate get interfaces --where 'type == "bond" && policies.size() == 0' -o json`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return p.interfaces(cmd.Context(), only, where, output)
		},
	}
	cmd.Flags().StringVar(&where, "where", "", "CEL expression that has to hold for an interface")
	cmd.Flags().StringSliceVar(&only, "node", nil, "node to list; may be given several times")
	_ = cmd.RegisterFlagCompletionFunc("node", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return p.complete(nodes)(cmd, nil, begun)
	})
	addOutput(cmd, &output)
	return cmd
}

func (p *plugin) interfaces(ctx context.Context, only []string, where, output string) error {
	holds := func(view.Interface) (bool, error) { return true, nil }
	if where != "" {
		var err error
		if holds, err = view.Where(where); err != nil {
			return fmt.Errorf("%w: --where %w", errUsage, err)
		}
	}
	api, err := p.connect()
	if err != nil {
		return err
	}
	found, nodes := []view.Interface{}, 0
	err = eachState(ctx, api, only, func(state *v1.NodeNetworkState) error {
		nodes++
		if state.Status.Truncated != nil {
			fmt.Fprintf(p.ErrOut, "node %s reports only a part of its interfaces: status.truncated of its NodeNetworkState says what is left out\n", state.Name)
		}
		all, err := view.Interfaces(state)
		if err != nil {
			return err
		}
		for _, one := range all {
			is, err := holds(one)
			if err != nil {
				return fmt.Errorf("%w: --where %w", errUsage, err)
			}
			if is {
				found = append(found, one)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case output != "":
		return p.printValue(found, output)
	case len(found) == 0:
		fmt.Fprintf(p.ErrOut, "no interface of %d nodes\n", nodes)
		return nil
	}
	p.print(view.InterfaceTable(found))
	return nil
}

// eachState reads the states of these nodes, or of all of them a few at a time.
func eachState(ctx context.Context, api client.Client, only []string, see func(*v1.NodeNetworkState) error) error {
	for _, name := range only {
		var state v1.NodeNetworkState
		if err := api.Get(ctx, client.ObjectKey{Name: name}, &state); err != nil {
			return explained("reading the state of node "+name, err)
		}
		if err := see(&state); err != nil {
			return err
		}
	}
	if len(only) > 0 {
		return nil
	}
	for more := ""; ; {
		var list v1.NodeNetworkStateList
		if err := api.List(ctx, &list, client.Limit(statesAtOnce), client.Continue(more)); err != nil {
			return explained("reading what the nodes report", err)
		}
		for i := range list.Items {
			if err := see(&list.Items[i]); err != nil {
				return err
			}
		}
		if more = list.Continue; more == "" {
			return nil
		}
	}
}

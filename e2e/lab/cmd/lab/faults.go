//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

func newUnit(w *where, name, what string, do func(*lab.Node, context.Context, string) error) *cobra.Command {
	return w.verb([]string{"start", "stop", "restart", "kill", "halt", "pause", "resume"}, do, &cobra.Command{
		Use:     name + " NODE start|stop|restart|kill|halt|pause|resume",
		Short:   "Start, stop, restart, kill -9, halt (kill -9, and it stays away), pause or resume (SIGSTOP, SIGCONT) " + what + " of a node",
		Example: "  lab " + name + " node1 kill",
	})
}

// verb gives a command its arguments: a node, and what to do with it.
func (w *where) verb(verbs []string, do func(*lab.Node, context.Context, string) error, cmd *cobra.Command) *cobra.Command {
	cmd.Args = cobra.ExactArgs(2)
	cmd.ValidArgsFunction = w.completeThen(verbs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		n, err := w.node(args[0])
		if err != nil {
			return err
		}
		return do(n, cmd.Context(), args[1])
	}
	return cmd
}

// completeThen completes a node and then one of some words.
func (w *where) completeThen(words []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return w.completeNode(cmd, args, prefix)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

func newLink(w *where) *cobra.Command {
	verbs := []string{"up", "down", "unplug", "plug"}
	return &cobra.Command{
		Use:               "link NODE NIC up|down|unplug|plug",
		Short:             "Take the carrier of a NIC away or give it back, pull a NIC out or put it in",
		Example:           "  lab link node1 eth0 down",
		Args:              cobra.ExactArgs(3),
		ValidArgsFunction: w.completeThen(verbs),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := w.node(args[0])
			if err != nil {
				return err
			}
			switch args[2] {
			case "up", "down":
				return n.Carrier(cmd.Context(), args[1], args[2] == "up")
			case "unplug":
				return n.Unplug(cmd.Context(), args[1])
			case "plug":
				return n.Plug(cmd.Context(), args[1])
			}
			return fmt.Errorf("%q is none of %s", args[2], strings.Join(verbs, ", "))
		},
	}
}

func newReboot(w *where) *cobra.Command {
	return &cobra.Command{
		Use:               "reboot NODE",
		Short:             "Kill everything in a node and start it again; what was written to /etc and /var stays",
		Example:           "  lab reboot node1",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: w.completeNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := w.node(args[0])
			if err != nil {
				return err
			}
			return n.Reboot(cmd.Context())
		},
	}
}

func newPower(w *where) *cobra.Command {
	return w.verb([]string{"cut", "off", "on"}, (*lab.Node).Power, &cobra.Command{
		Use:   "power NODE cut|off|on",
		Short: "Take a node's power away and give it back; cut is both at once",
		Long: `Take a node's power away and give it back; cut is both at once.

Every process dies at one stroke, /run and all memory are gone, /etc and /var stay:
all of them where disks are folders, what had been synced where they are images
(lab up --disk image). After a boot the handler starts once its node has reached
the API server, as a pod of a DaemonSet does.`,
		Example: "  lab power node1 cut\n  lab api cut; lab power node1 cut   # no handler, until lab api connect",
	})
}

func newAPI(w *where) *cobra.Command {
	verbs := []string{"cut", "connect", "start", "stop", "kill", "backup", "restore"}
	return &cobra.Command{
		Use:       "api cut|connect|start|stop|kill|backup|restore",
		Short:     "Cut the nodes' way to the API server, end and start the server itself, or set its etcd back",
		Example:   "  lab api cut\n  lab api connect\n\n  lab api backup\n  lab api restore   # what was written since is gone",
		Args:      cobra.ExactArgs(1),
		ValidArgs: verbs,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			switch args[0] {
			case "cut":
				return l.CutAPI(cmd.Context())
			case "connect":
				return l.ConnectAPI(cmd.Context())
			}
			if !slices.Contains(verbs, args[0]) {
				return fmt.Errorf("%q is none of %s", args[0], strings.Join(verbs, ", "))
			}
			return l.APIServer(cmd.Context(), args[0])
		},
	}
}

func newVM(w *where) *cobra.Command {
	verbs := []string{"cut", "off", "on"}
	return &cobra.Command{
		Use:   "vm cut|off|on",
		Short: "Take the power of a lab's virtual machine away and give it back; cut is both at once",
		Long: `Take the power of a lab's virtual machine away and give it back; cut is both at once.

QEMU is killed: all nodes and switches lose their power at one stroke. The nodes' disks
stay, without what the VM had not written yet.`,
		Example:   "  lab vm cut",
		Args:      cobra.ExactArgs(1),
		ValidArgs: verbs,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			return l.VMPower(cmd.Context(), args[0])
		},
	}
}

func newSwitch(w *where) *cobra.Command {
	return &cobra.Command{
		Use:   "switch NAME down|up|lacp-silent|lacp-speaks|claim ADDRESS|release ADDRESS|dhcp-silent|dhcp-answers|dhcp-other FROM-TO|frames BYTES",
		Short: "Have a switch drop everything, speak no LACP, lease nothing or other addresses, drop long packets, or another host use an address",
		Long: `Have a switch drop everything, speak no LACP, lease nothing or other addresses, drop long packets, or another host use an address.

down leaves the carrier of the switch's ports as it is. Of a switch that is a VLAN of
another one, it is the trunk that does not carry the VLAN any more. claim has another
host of the segment use an address, as of somebody who has configured it twice.
dhcp-silent has its DHCP server answer nobody (name server and router stay), and
dhcp-other is another server in its place, which knows nobody's lease. frames has the
switch drop packets of more than so many bytes, while its gateway takes 9,000.`,
		Example:   "  lab switch hundred down\n  lab switch lan lacp-silent\n  lab switch lan claim 192.0.2.11\n  lab switch storage dhcp-other 198.51.100.10-198.51.100.20\n  lab switch lan frames 1500",
		Args:      cobra.RangeArgs(2, 3),
		ValidArgs: lab.SwitchFaults(),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			address := ""
			if len(args) == 3 {
				address = args[2]
			}
			return l.Switch(cmd.Context(), args[0], args[1], address)
		},
	}
}

func newDisk(w *where) *cobra.Command {
	return w.verb([]string{lab.DiskFull, lab.DiskReadOnly, lab.DiskWritable}, (*lab.Node).BreakDisk, &cobra.Command{
		Use:   "disk NODE full|read-only|writable",
		Short: "Fill a node's disk, have it take nothing any more, or mend it",
		Long: `Fill a node's disk, have it take nothing any more, or mend it.

The disk is what is below /etc and /var. Only one that is an image can be filled
(lab up --disk image).`,
		Example: "  lab disk node1 read-only",
	})
}

func newClock(w *where) *cobra.Command {
	return &cobra.Command{
		Use:     "clock DURATION",
		Short:   "Step the clock of a lab's virtual machine, which all of its nodes have",
		Example: "  lab clock 2h\n  lab clock -- -5m",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			by, err := time.ParseDuration(args[0])
			if err != nil {
				return fmt.Errorf("%q is no duration such as 2h or -5m", args[0])
			}
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			return l.StepClock(cmd.Context(), by)
		},
	}
}

func newGateway(w *where) *cobra.Command {
	words := []string{"ping", "dns", "on", "off"}
	return &cobra.Command{
		Use:   "gateway ping|dns off|on",
		Short: "Have all gateways fall silent: to pings, or as name servers (with DHCP)",
		Long: `Have all gateways fall silent: to pings, or as name servers.

The nodes' way to the API server is through the gateway and stays as it is. With
dns, no DHCP and no router advertisement is answered either.`,
		Example:   "  lab gateway ping off\n  lab gateway ping on",
		Args:      cobra.ExactArgs(2),
		ValidArgs: words,
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[1] != "on" && args[1] != "off" {
				return fmt.Errorf("%q is neither on nor off", args[1])
			}
			l, err := lab.Open(w.root, w.name)
			if err != nil {
				return err
			}
			return l.Gateway(cmd.Context(), args[0], args[1] == "on")
		},
	}
}

func newKernel(w *where) *cobra.Command {
	return &cobra.Command{
		Use:               "kernel NODE",
		Short:             "Print a node's links, addresses, routes and rules, to compare before and after",
		Example:           "  lab kernel node1 > before; ...; lab kernel node1 | diff before -",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: w.completeNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := w.node(args[0])
			if err != nil {
				return err
			}
			text, err := n.Kernel(cmd.Context())
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
}

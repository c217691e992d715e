//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// where says which lab a command is about.
type where struct{ root, name string }

func newRoot() *cobra.Command {
	w := &where{}
	root := &cobra.Command{
		Use:   "lab",
		Short: "Emulated nodes with a real NetworkManager, in network namespaces",
		Long: `Emulated nodes with a real NetworkManager, in network namespaces.

A lab changes nothing in the machine's own network. It needs root, dnsmasq and
ip; NetworkManager comes from a cached Debian root or from the machine.`,
		Example: `  lab up                        # three nodes and a control plane
  lab exec node1 -- nmcli device
  lab status
  lab down`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().StringVar(&w.name, "name", "default", "name of the lab; labs of different names exist side by side")
	root.PersistentFlags().StringVar(&w.root, "root", lab.DefaultRoot, "folder that keeps the state of all labs")
	root.AddCommand(newUp(w), newDown(w), newStatus(w), newExec(w), newKernel(w), newLogs(w),
		newUnit(w, "nm", "NetworkManager", (*lab.Node).NM), newUnit(w, "ovsdb", "Open vSwitch's database", (*lab.Node).OVSDB),
		newUnit(w, "handler", "the handler", (*lab.Node).Handler),
		newLink(w), newReboot(w), newPower(w), newAPI(w), newGateway(w), newSwitch(w), newDisk(w), newClock(w), newVM(w), newGraph(w), newFromNNS(w))
	return root
}

func newUp(w *where) *cobra.Command {
	opts := lab.Options{}
	file, quiet := "", false
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Build a lab; one that is up under the same name is replaced",
		Example: `  lab up
  lab up -f topology.yaml --handler bin/handler
  lab up --control-plane none --nm 1.42`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Name, opts.Root = w.name, w.root
			opts.KubebuilderAssets = os.Getenv("KUBEBUILDER_ASSETS")
			if file != "" {
				t, err := lab.LoadTopology(file)
				if err != nil {
					return err
				}
				opts.Topology = t
			}
			if _, err := os.Stat(opts.Deploy); err != nil && !cmd.Flags().Changed("deploy") {
				opts.Deploy = "" // the default is for those who work in the repository
			}
			p := newProgress(cmd.ErrOrStderr(), quiet)
			opts.Progress = p.line
			l, err := lab.Up(cmd.Context(), opts)
			if err != nil {
				return err
			}
			p.done("lab " + w.name + " is up")
			if l.Kubeconfig() != "" {
				fmt.Fprintln(cmd.OutOrStdout(), "export KUBECONFIG="+l.Kubeconfig())
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&file, "file", "f", "", "topology (default: three nodes with three NICs each)")
	f.StringVar(&opts.NM, "nm", "auto", "NetworkManager of nodes whose topology names none: 1.42, 1.52, host (the machine's) or auto (1.52 where it can be had)")
	f.BoolVar(&opts.VM, "vm", false, "run the nodes in a virtual machine (QEMU) whose kernel has bond, VLAN and all other drivers of Debian")
	f.StringVar(&opts.Disk, "disk", lab.DiskFolder, "disks of nodes: folder, or image, which a power cut leaves with what was synced")
	f.StringVar(&opts.NMLogLevel, "nm-log-level", "INFO", "NetworkManager's log level: INFO, DEBUG or TRACE")
	f.StringVar(&opts.Handler, "handler", "", "handler executable to run in each node")
	f.StringArrayVar(&opts.HandlerArgs, "handler-arg", nil, "argument of the handler; may be given again")
	f.StringArrayVar(&opts.Binds, "bind", nil, "folder that nodes see, read-only, at the same path; may be given again")
	f.StringVar(&opts.ControlPlane, "control-plane", "embedded", "embedded or none")
	f.StringVar(&opts.Kubeconfig, "kubeconfig", "", "use this cluster instead of an embedded control plane")
	f.StringVar(&opts.Deploy, "deploy", "deploy", "folder with crds, namespace, rbac and admission for the cluster; empty: none")
	f.StringArrayVar(&opts.Manifests, "manifests", nil, "file or folder to apply to the cluster; may be given again")
	f.StringVar(&opts.AuditLog, "audit-log", "", "file for the requests to the embedded API server")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress lines")
	return cmd
}

func newDown(w *where) *cobra.Command {
	return &cobra.Command{
		Use:     "down",
		Short:   "Remove a lab and everything it made; none there is fine",
		Example: "  lab down\n  lab down --name other",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
			defer cancel()
			return lab.Remove(ctx, w.root, w.name)
		},
	}
}

func newExec(w *where) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "exec NODE -- COMMAND...",
		Short: "Run a command in a node; its exit code is passed on",
		Example: `  lab exec node1 -- nmcli device
  lab exec node1 -- ping -c 1 192.0.2.1
  lab exec node1 -- bash`,
		Args:              cobra.MinimumNArgs(2),
		ValidArgsFunction: w.completeNode,
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := w.node(args[0])
			if err != nil {
				return err
			}
			program := args[1:]
			if program[0] == "--" && len(program) > 1 {
				program = program[1:]
			}
			// Ctrl-C reaches the command, which is in our terminal's group; main has
			// caught it for us, and we stay to pass the command's exit code on.
			var env []string
			if t := os.Getenv("TERM"); t != "" {
				env = append(env, "TERM="+t)
			}
			ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM)
			defer stop()
			return n.Run(ctx, lab.Command{Args: program, Env: env, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
		},
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}

func (w *where) node(name string) (*lab.Node, error) {
	l, err := lab.Open(w.root, w.name)
	if err != nil {
		return nil, err
	}
	return l.Node(name)
}

func (w *where) completeNode(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	l, err := lab.Open(w.root, w.name)
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, n := range l.Nodes() {
		names = append(names, n.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// progress prints one line for each step with the time since the start.
type progress struct {
	out    io.Writer
	colour bool
	quiet  bool
	start  time.Time
	mu     sync.Mutex
}

func newProgress(out io.Writer, quiet bool) *progress {
	f, ok := out.(*os.File)
	return &progress{out: out, quiet: quiet, colour: ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "", start: time.Now()}
}

func (p *progress) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.quiet {
		fmt.Fprintf(p.out, "%6.1fs  %s\n", time.Since(p.start).Seconds(), strings.TrimSpace(text))
	}
}

func (p *progress) done(text string) {
	if p.colour {
		text = "\x1b[32m" + text + "\x1b[0m"
	}
	p.line(text)
}

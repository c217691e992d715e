package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"

	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/logs"
)

// version is stamped by the linker, and so is that of the libnmstate that it is
// linked with.
var (
	version        = "devel"
	nmstateVersion string
)

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// Values of --mode and of --output.
const (
	distributed = "distributed"
	centralized = "centralized"
	outputJSON  = "json"
)

// errUsage marks what the caller has to change on the command line.
var errUsage = errors.New("usage")

// A connection that an outage has broken is noticed within twenty seconds, not
// forty-five: until then the handler hears of nothing, and its outcome waits.
// client-go takes these from the environment only.
func noticeBrokenConnections() error {
	for name, seconds := range map[string]string{"HTTP2_READ_IDLE_TIMEOUT_SECONDS": "10", "HTTP2_PING_TIMEOUT_SECONDS": "10"} {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, seconds); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
	}
	return nil
}

func main() {
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "handler: "+strings.ReplaceAll(err.Error(), "\n", " "))
		if errors.Is(err, errUsage) {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailed)
	}
}

func command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "handler",
		Short: "Brings this node's network to what the cluster's policies say, and reports it",
		Long: `handler runs on a node. It applies the NodeNetworkConfigurationPolicies that
match the node through nmstate and NetworkManager, takes back what costs the
node its connectivity, and reports the node's network as its NodeNetworkState.

With --mode centralized it leaves the policies to the controllers, which must
run with --mode centralized as well, and enforces NodeNetworkState.spec alone.
A cluster may go from one mode to the other at any time: nothing is applied
again.`,
		Example: `  # On a node, as a daemon
  handler --node-name "$(hostname)" --kubeconfig /etc/nmstate/kubeconfig

  # The same where the controllers do the policies of all nodes
  handler --node-name "$(hostname)" --kubeconfig /etc/nmstate/kubeconfig --mode centralized

  # One pass: apply what is approved, report, and exit non-zero if something failed
  handler --node-name node1 --kubeconfig kubeconfig --once

  # One pass over NodeNetworkState.spec, whoever wrote it, told as JSON
  handler --node-name node1 --kubeconfig kubeconfig --mode centralized --once -o json`,
		Args:          cobra.NoArgs,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := noticeBrokenConnections(); err != nil {
				return err
			}
			ctrl.SetLogger(o.log.Logger(os.Stderr))
			if o.once {
				return single(cmd.Context(), o)
			}
			return daemon(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	cmd.AddCommand(backend.ChildCommand(), stateCommand(), profilesCommand())
	return cmd
}

// options are the flags.
type options struct {
	node         string
	mode         string
	kubeconfig   string
	journalDir   string
	revertHelper string
	probeWindow  time.Duration
	dnsHost      string
	protected    []string
	commands     bool
	once         bool
	onceTimeout  time.Duration
	output       string
	log          logs.Options
	healthAddr   string
	metricsAddr  string
	metricsOpen  bool
	pprofAddr    string
	grace        time.Duration
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.node, "node-name", os.Getenv("NODE_NAME"), "name of this node in the cluster (default: environment NODE_NAME)")
	flags.StringVar(&o.mode, "mode", distributed, "who does this node's policies: the handler itself (distributed) or the controllers (centralized)")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "file to reach the API server with (default: environment KUBECONFIG, then the pod's service account)")
	flags.StringVar(&o.journalDir, "journal-dir", "/var/lib/kubernetes-nmstate", "folder on the node's own disk for the journal")
	flags.StringVar(&o.revertHelper, "revert-helper", "", "program that computes the way back (default: nmstate-revert beside this program or on the PATH)")
	flags.DurationVar(&o.probeWindow, "probe-window", 2*time.Minute, "how long after an apply the probes may take, where the policy does not say")
	flags.StringVar(&o.dnsHost, "dns-probe-host", "root-servers.net", "name that the node's name servers must answer for")
	flags.StringSliceVar(&o.protected, "protected-interfaces", desired.DefaultProtected(), "patterns of the names of interfaces that belong to other owners: no policy may take one")
	flags.BoolVar(&o.commands, "allow-commands", false, "let desired states have scripts run, and libraries loaded, as root on this node (dispatch, dpdk-extra)")
	flags.BoolVar(&o.once, "once", false, "do one pass, report, and exit")
	flags.DurationVar(&o.onceTimeout, "once-timeout", 10*time.Minute, "with --once: how long the pass may take, a person's confirmation included")
	flags.StringVarP(&o.output, "output", "o", "", "with --once: json tells on standard output what the pass came to")
	o.log.AddFlags(cmd)
	flags.StringVar(&o.healthAddr, "health-probe-bind-address", "0", "address for /healthz and /readyz; 0 turns it off")
	flags.StringVar(&o.metricsAddr, "metrics-bind-address", "0", "address for metrics, over HTTPS and for callers who may get /metrics; 0 turns it off")
	flags.BoolVar(&o.metricsOpen, "metrics-open", false, "serve metrics over HTTP and to everybody")
	flags.StringVar(&o.pprofAddr, "pprof-bind-address", "0", "address for profiles, for everybody who reaches it; 0 turns it off")
	flags.DurationVar(&o.grace, "termination-grace", 5*time.Minute, "how long a transaction may take to end after SIGTERM; in the last fifth it is taken back")
	for flag, values := range map[string][]string{
		"mode": {distributed, centralized}, "output": {outputJSON},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (o *options) complete() error {
	switch {
	case o.node == "":
		return fmt.Errorf("%w: --node-name is required (or environment NODE_NAME)", errUsage)
	case o.mode != distributed && o.mode != centralized:
		return fmt.Errorf("%w: --mode %q: want distributed or centralized", errUsage, o.mode)
	case o.output != "" && (o.output != outputJSON || !o.once):
		return fmt.Errorf("%w: --output %q: there is json, with --once", errUsage, o.output)
	case o.log.Check() != nil:
		return fmt.Errorf("%w: %w", errUsage, o.log.Check())
	case desired.CheckProtected(o.protected) != nil:
		return fmt.Errorf("%w: --protected-interfaces: %w", errUsage, desired.CheckProtected(o.protected))
	case o.grace < 0:
		return fmt.Errorf("%w: --termination-grace %s: want 0s or more", errUsage, o.grace)
	case o.probeWindow < time.Second:
		return fmt.Errorf("%w: --probe-window %s: want at least 1s", errUsage, o.probeWindow)
	}
	return nil
}

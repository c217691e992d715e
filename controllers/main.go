package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/cached"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/access"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/logs"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// version is stamped by the linker.
var version = "devel"

// Exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// errUsage marks what the caller has to change on the command line.
var errUsage = errors.New("usage")

// Values of --mode and of --output.
const (
	distributed = "distributed"
	centralized = "centralized"
	outputJSON  = "json"
)

// leaseName is the Lease that the instances elect their leader by.
const leaseName = "nmstate-controllers"

func main() {
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "controllers: "+strings.ReplaceAll(err.Error(), "\n", " "))
		if errors.Is(err, errUsage) {
			os.Exit(exitUsage)
		}
		os.Exit(exitFailed)
	}
}

// options are the flags.
type options struct {
	kubeconfig     string
	mode           string
	once           bool
	onceTimeout    time.Duration
	output         string
	protected      []string
	commands       bool
	elect          bool
	electNamespace string
	nodeGrace      time.Duration
	handlers       string
	secrets        string
	answerNMStates bool
	metricsAddr    string
	metricsOpen    bool
	pprofAddr      string
	healthAddr     string
	log            logs.Options
}

func command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "controllers",
		Short: "Rolls policies out over the nodes and tells how they fare",
		Long: `controllers runs once in a cluster. It grants nodes their turn to apply a
NodeNetworkConfigurationPolicy, no more at once than its maxUnavailable, stops
a policy that fails, and writes the policies' status.

With --mode centralized it also turns the policies into the desired states of
all nodes, whose handlers run with --mode centralized then. A cluster may go
from one mode to the other at any time: nothing is applied again.`,
		Example: `  # On a laptop, without a second instance that could take over
  controllers --kubeconfig kubeconfig --leader-elect=false --log-level debug

  # The policies of all nodes from one place
  controllers --kubeconfig kubeconfig --mode centralized

  # One pass: roll out until every policy has come to an end, say which, and
  # exit non-zero if one is Degraded
  controllers --kubeconfig kubeconfig --once

  # The same for policies and desired states, told as JSON
  controllers --kubeconfig kubeconfig --mode centralized --once --once-timeout 10m -o json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%w: unexpected argument %q", errUsage, args[0])
			}
			return nil
		},
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.once {
				return once(cmd.Context(), o, cmd.OutOrStdout())
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	cmd.AddCommand(operatorCommand())
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "file to reach the API server with (default: environment KUBECONFIG, then the pod's service account)")
	flags.StringVar(&o.mode, "mode", distributed, "who does the nodes' policies: each node's handler (distributed) or this program (centralized)")
	flags.BoolVar(&o.once, "once", false, "roll out until every policy has come to an end, tell it, and exit")
	flags.DurationVar(&o.onceTimeout, "once-timeout", 5*time.Minute, "with --once: how long the pass may take")
	flags.StringVarP(&o.output, "output", "o", "", "with --once: json instead of a line for each policy")
	flags.StringSliceVar(&o.protected, "protected-interfaces", desired.DefaultProtected(), "with --mode centralized: patterns of the names of interfaces that belong to other owners: no policy may take one")
	flags.BoolVar(&o.commands, "allow-commands", false, "with --mode centralized: let policies have scripts run, and libraries loaded, as root on the nodes (dispatch, dpdk-extra); the handlers need it too")
	flags.BoolVar(&o.elect, "leader-elect", true, "act only while holding the Lease "+leaseName)
	flags.StringVar(&o.electNamespace, "leader-election-namespace", "nmstate", "namespace of the Lease")
	flags.DurationVar(&o.nodeGrace, "node-grace", plan.DefaultGrace, "how long a node may be without a handler until policies no longer wait for it, and how long one that died in the middle of a change keeps its slot")
	flags.StringVar(&o.handlers, "handler-namespace", "", "namespace of the handlers' pods, by which a node whose handler died is found; empty: the handlers are no pods")
	flags.StringVar(&o.secrets, "secrets-namespace", "", "namespace of the Secrets that policies may name; empty: they may name none")
	flags.BoolVar(&o.answerNMStates, "answer-nmstates", true, "tell NMState objects that nobody installs by them; the operator, which does, turns this off")
	flags.StringVar(&o.metricsAddr, "metrics-bind-address", "0", "address for metrics, over HTTPS and for callers who may get /metrics; 0 turns it off")
	flags.BoolVar(&o.metricsOpen, "metrics-open", false, "serve metrics over HTTP and to everybody")
	flags.StringVar(&o.pprofAddr, "pprof-bind-address", "0", "address for profiles, for everybody who reaches it; 0 turns it off")
	flags.StringVar(&o.healthAddr, "health-probe-bind-address", "0", "address for /healthz and /readyz; 0 turns it off")
	o.log.AddFlags(cmd)
	for flag, values := range map[string][]string{
		"mode": {distributed, centralized}, "output": {outputJSON},
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

func (o *options) check() error {
	switch {
	case o.log.Check() != nil:
		return fmt.Errorf("%w: %w", errUsage, o.log.Check())
	case o.mode != distributed && o.mode != centralized:
		return fmt.Errorf("%w: --mode %q: want distributed or centralized", errUsage, o.mode)
	case desired.CheckProtected(o.protected) != nil:
		return fmt.Errorf("%w: --protected-interfaces: %w", errUsage, desired.CheckProtected(o.protected))
	case o.output != "" && (o.output != outputJSON || !o.once):
		return fmt.Errorf("%w: --output %q: there is json, with --once", errUsage, o.output)
	case o.nodeGrace <= 0:
		return fmt.Errorf("%w: --node-grace %s: want more than 0", errUsage, o.nodeGrace)
	case o.elect && o.electNamespace == "":
		return fmt.Errorf("%w: --leader-election-namespace is empty; name one, or give --leader-elect=false", errUsage)
	}
	return nil
}

// run runs the controllers until the context ends or the Lease is lost.
func run(ctx context.Context, o options) error {
	mgr, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	for _, metric := range rollout.Metrics(ctx, mgr.GetClient(), mgr.Elected(), o.handlers) {
		if err := metrics.Registry.Register(metric); err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	if err := watch.Run(ctx, mgr); err != nil {
		return fmt.Errorf("running the controllers: %w", err)
	}
	return nil
}

// prepare makes a manager with the controllers of the mode.
func prepare(ctx context.Context, o options) (ctrl.Manager, error) {
	logger := o.log.Logger(os.Stderr)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	config, err := connection(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return nil, err
	}
	if err := addControllers(ctx, mgr, o); err != nil {
		return nil, err
	}
	logger.Info("Starting", "version", version, "mode", o.mode, "apiServer", config.Host)
	return mgr, nil
}

// connection finds the cluster as kubectl does: the flag, KUBECONFIG, or the
// pod's service account.
func connection(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("%w: this is not a pod; name the cluster with --kubeconfig FILE", errUsage)
	}
	if err != nil {
		return nil, fmt.Errorf("reading --kubeconfig: %w", err)
	}
	return withoutLimit(config), nil
}

// withoutLimit leaves fairness to the API server: the client's own limit would
// make the grants of a large rollout trickle.
func withoutLimit(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.UserAgent = "nmstate-controllers/" + version
	return config
}

// newClient is a manager's own, whose reads end also where its cache does not catch up.
func newClient(config *rest.Config, options client.Options) (client.Client, error) {
	made, err := client.New(config, options)
	if err != nil {
		return nil, err
	}
	options.Cache = nil
	live, err := client.New(config, options)
	if err != nil {
		return nil, err
	}
	return cached.New(made, live, clock.RealClock{}), nil
}

func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	restores := watch.NewRestores(clock.RealClock{}, &v1.NodeNetworkConfigurationPolicy{})
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         restores.Over(cacheOptions(o)),
		Client:                        client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		NewClient:                     newClient,
		LeaderElection:                o.elect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.electNamespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       access.Metrics(o.metricsAddr, o.metricsOpen, clock.RealClock{}),
		PprofBindAddress:              o.pprofAddr,
		HealthProbeBindAddress:        o.healthAddr,
	})
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("the API server does not know our kinds; install them with: kubectl apply -f deploy/crds (%w)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing the controllers: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("caches", access.CachesFilled(mgr.GetCache())), mgr.Add(restores)); err != nil {
		return nil, fmt.Errorf("adding the health checks: %w", err)
	}
	return mgr, nil
}

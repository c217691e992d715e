package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap/zapcore"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/policy"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/observe"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// parts are what the daemon and a single pass are wired from.
type parts struct {
	options options
	config  *rest.Config
	scheme  *runtime.Scheme
	backend *backend.Backend
	journal *journal.Files
	// revertHelper is the path of nmstate-revert, empty where there is none.
	revertHelper string
	// metrics takes those of the state handler; nil for none.
	metrics prometheus.Registerer
}

func newParts(_ context.Context, o options) (*parts, error) {
	level := zapcore.InfoLevel
	if o.logLevel == "debug" {
		level = zapcore.DebugLevel
	}
	// Phases of a transaction take milliseconds, and so do their times.
	fine := zap.JSONEncoder(func(c *zapcore.EncoderConfig) { c.EncodeTime = zapcore.RFC3339NanoTimeEncoder })
	ctrl.SetLogger(zap.New(zap.Level(level), fine, zap.WriteTo(os.Stderr)))
	p := &parts{options: o, scheme: runtime.NewScheme()}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(p.scheme); err != nil {
			return nil, err
		}
	}
	var err error
	rules := clientcmd.NewDefaultClientConfigLoadingRules() // KUBECONFIG counts, as for kubectl.
	rules.ExplicitPath = o.kubeconfig
	if p.config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig(); err != nil {
		return nil, fmt.Errorf("%w: finding the API server: %w", errUsage, err)
	}
	p.config.UserAgent = "nmstate-handler/" + version
	p.config.Dial = probe.Dial
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	helper, err := findRevertHelper(o.revertHelper, executable)
	if err != nil {
		return nil, err
	}
	p.revertHelper = helper
	if p.backend, err = backend.New(backend.Options{Executable: executable, RevertHelper: helper}); err != nil {
		return nil, err
	}
	if p.journal, err = journal.NewFiles(o.journalDir); err != nil {
		return nil, err
	}
	if err := p.journal.Lock(); err != nil {
		return nil, err
	}
	return p, nil
}

// findRevertHelper is the program that was asked for, otherwise the one beside
// this program or on the PATH. Without any the way back is less exact, which
// is said and goes on: a node without Rust built for it shall be managed too.
func findRevertHelper(asked, executable string) (string, error) {
	const name = "nmstate-revert"
	if asked != "" {
		found, err := exec.LookPath(asked)
		if err != nil {
			return "", fmt.Errorf("%w: --revert-helper: %w", errUsage, err)
		}
		return found, nil
	}
	if beside := filepath.Join(filepath.Dir(executable), name); isProgram(beside) {
		return beside, nil
	}
	if found, err := exec.LookPath(name); err == nil {
		return found, nil
	}
	ctrl.Log.WithName("handler").Info("nmstate-revert is neither beside the handler nor on the PATH: " +
		"after a restart of NetworkManager in mid-change the way back is less exact; make libnmstate builds it where Rust is installed")
	return "", nil
}

func isProgram(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}

// handlers are the two halves of a node's handler; policy is nil where the
// controllers do it.
type handlers struct {
	state  *agent.Agent
	policy *policy.Reconciler
}

func (p *parts) handlers(c client.Client, live client.Reader, clock deadline.Clock, events policy.Recorder) (*handlers, error) {
	node := p.options.node
	prober := probe.New(probe.Options{
		Clock: clock, DNSHost: p.options.dnsHost, KubeConfig: p.config, NodeName: node,
		Ready: func(ctx context.Context) (bool, error) { return ready(ctx, c, node) },
	})
	filters, err := backend.KernelFiltersVLANs()
	if err != nil {
		return nil, err
	}
	state, err := agent.New(agent.Options{
		Node: node, Client: c, Live: live, Backend: p.backend, Prober: prober,
		Journal: p.journal, Boot: journal.LiveBoot{}, Foreign: foreign.Kernel{}, Clock: clock,
		Spawn:   func(task func()) { go task() },
		Metrics: p.metrics,
		Window:  p.options.probeWindow, Version: version, HostVersion: networkManagerVersion,
		BridgeVLANFiltering: &filters,
	})
	if err != nil {
		return nil, err
	}
	if p.options.mode == centralized {
		return &handlers{state: state}, nil
	}
	policies := policy.New(policy.Options{
		Client: c, Live: live, Node: node, Clock: clock, Events: events,
		Captures: backend.Captures{Helper: p.revertHelper}, Protected: p.options.protected,
	})
	return &handlers{state: state, policy: policies}, nil
}

// networkManagerVersion is for the report only, so not to know it is no failure.
func networkManagerVersion(ctx context.Context) string {
	found, err := observe.NetworkManagerVersion(ctx, "")
	if err != nil {
		return ""
	}
	return found
}

// ready tells whether the Node has the condition Ready.
func ready(ctx context.Context, c client.Reader, name string) (bool, error) {
	var node corev1.Node
	if err := c.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
		return false, err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue, nil
		}
	}
	return false, nil
}

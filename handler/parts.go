package main

import (
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/observe"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

// parts are what the daemon and a single pass are wired from, beside the node.
type parts struct {
	*node

	scheme *runtime.Scheme
	// filters tells whether the kernel's bridges can filter VLANs.
	filters bool
	// kernel tells which interfaces the kernel can make.
	kernel *backend.Links
}

// clusterConfig says how the API server is reached. It asks nobody.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules() // KUBECONFIG counts, as for kubectl.
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%w: finding the API server: %w", errUsage, err)
	}
	config.UserAgent = "nmstate-handler/" + version
	return config, nil
}

// parts fails for everything that the way back did without.
func (n *node) parts() (*parts, error) {
	if n.mistakes != nil {
		return nil, n.mistakes
	}
	p := &parts{node: n, scheme: runtime.NewScheme()}
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(p.scheme); err != nil {
			return nil, err
		}
	}
	var err error
	if p.filters, err = backend.KernelFiltersVLANs(); err != nil {
		return p, err
	}
	p.kernel, err = backend.NewLinks()
	return p, err
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

// connect gives the state handler the cluster, and makes the policy handler: nil
// where the controllers do the policies.
func (p *parts) connect(ctx context.Context, c client.Client, live client.Reader, events policy.Recorder) (*policy.Reconciler, error) {
	var reader client.Reader = c
	p.cluster.Store(&reader)
	if err := p.state.Connect(ctx, agent.Cluster{Client: c, Live: live, BridgeVLANFiltering: &p.filters, Kernel: p.kernel}); err != nil {
		return nil, err
	}
	if p.options.mode == centralized {
		return nil, nil
	}
	var fingerprint func(string) string
	if p.secrets != nil {
		fingerprint = p.secrets.Fingerprint
	}
	return policy.New(policy.Options{
		Fingerprint: fingerprint, Client: c, Live: live, Node: p.options.node, Clock: p.clock, Events: events,
		Captures: backend.Captures{Helper: p.revertHelper}, Protected: p.options.protected, Commands: p.options.commands, Whole: p.state.Whole,
	}), nil
}

// networkManager is for the report only, so not to know it is no failure.
func networkManager(ctx context.Context) agent.Daemon {
	found, _ := observe.AskNetworkManager(ctx, "")
	return agent.Daemon(found)
}

// ready tells whether the Node has the condition Ready.
func ready(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// internalIPs are the addresses by which the cluster knows the node.
func internalIPs(node corev1.Node) []netip.Addr {
	var found []netip.Addr
	for _, one := range node.Status.Addresses {
		if address, err := netip.ParseAddr(one.Address); err == nil && one.Type == corev1.NodeInternalIP {
			found = append(found, address)
		}
	}
	return found
}

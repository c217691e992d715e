package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	backend "github.com/nmstate/kubernetes-nmstate/handler/backend/nmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/observe"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
)

const (
	// meanwhile is how long the way back of an earlier handler is alone. After it
	// the rest begins beside it, so that somebody can be told: what is missing
	// may be a NetworkManager that stays away.
	meanwhile = 10 * time.Second
	// lockPoll is how often it is looked whether another handler has ended.
	lockPoll = 500 * time.Millisecond
)

// node is what the way back needs and no more. It is made, and at work, before
// anything is touched that may be in use, missing or out of reach.
type node struct {
	options options
	clock   deadline.Clock
	state   *agent.Agent
	// watcher tells the agent of the node's network, where somebody runs it.
	watcher *observe.Watcher
	// config is how the API server is reached, nil where nobody says.
	config *rest.Config
	// revertHelper is the path of nmstate-revert, empty where there is none.
	revertHelper string
	// secrets is the node's key, nil where there can be none.
	secrets *secret.Key
	// mistakes are what was found to be wrong and the way back does without.
	mistakes error
	// cluster is whom the prober asks, once there is a connection.
	cluster atomic.Pointer[client.Reader]
	// addresses by which the cluster knows the node, as they were read last.
	addresses atomic.Pointer[[]netip.Addr]
}

// newNode waits while another handler runs on the node.
func newNode(ctx context.Context, o options, metrics prometheus.Registerer) (*node, error) {
	n := &node{options: o, clock: deadline.On(clock.RealClock{})}
	executable, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	var configErr, helperErr error
	n.config, configErr = clusterConfig(o.kubeconfig)
	toServer := probe.NewConnections(ctrl.Log.WithName("handler"))
	if n.config != nil {
		n.config.Dial = toServer.Dial
	}
	n.revertHelper, helperErr = findRevertHelper(o.revertHelper, executable)
	n.mistakes = errors.Join(configErr, helperErr)
	network, err := backend.New(backend.Options{Executable: executable, RevertHelper: n.revertHelper, Clock: n.clock, Commands: o.commands})
	if err != nil {
		return nil, err
	}
	files, err := journal.NewFiles(o.journalDir)
	if err != nil {
		return nil, err
	}
	if err := awaitLock(ctx, n.clock, files.TryLock); err != nil {
		return nil, err
	}
	n.secrets, n.watcher = openKey(o.journalDir), newWatcher(o.commands)
	n.state, err = agent.New(agent.Options{
		Node: o.node, Commands: o.commands, Secrets: opens(n.secrets), Backend: network, Journal: files, Boot: journal.LiveBoot{}, Foreign: foreign.Kernel{}, Clock: n.clock,
		Prober: probe.New(probe.Options{
			Clock: n.clock, DNSHost: o.dnsHost, KubeConfig: n.config, NodeName: o.node, Ready: n.isReady,
		}),
		Spawn:   func(task func()) { go task() },
		Metrics: metrics, Heard: n.watcher.Heard, Ended: toServer.CloseDead, KnownBy: n.knownBy,
		Window: o.probeWindow, Version: version, NmstateVersion: nmstateVersion, NetworkManager: networkManager,
	})
	return n, err
}

// openKey goes on without a key where there can be none: the way back needs none, and
// policies that name Secrets wait for it.
func openKey(dir string) *secret.Key {
	key, err := secret.OpenKey(dir)
	if err != nil {
		ctrl.Log.WithName("handler").Error(err, "policies that name or have secrets must wait")
		return nil
	}
	return key
}

// opens is nil for no key.
func opens(key *secret.Key) agent.Secrets {
	if key == nil {
		return nil
	}
	return key
}

// awaitLock waits until no other handler runs. One that cannot be locked out, by
// a disk that grants no lock at all, is no reason to leave the node as it is.
func awaitLock(ctx context.Context, clock deadline.Clock, try func() error) error {
	log := ctrl.Log.WithName("handler")
	for told := false; ; told = true {
		err := try()
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, journal.ErrLocked):
			log.Error(err, "going on without a lock")
			return nil
		case !told:
			log.Info("waiting until the other handler has ended", "cause", err.Error())
		}
		if !clock.Wait(ctx, nil, lockPoll) {
			return err
		}
	}
}

// isReady tells whether the cluster takes the node for ready, and notes by which addresses
// it knows it.
func (n *node) isReady(ctx context.Context) (bool, error) {
	reader := n.cluster.Load()
	if reader == nil {
		return false, errors.New("there is no connection to the API server yet")
	}
	var read corev1.Node
	if err := (*reader).Get(ctx, client.ObjectKey{Name: n.options.node}, &read); err != nil {
		return false, err
	}
	addresses := internalIPs(read)
	n.addresses.Store(&addresses)
	return ready(read), nil
}

// knownBy are the addresses by which the cluster knew the node when it was read last.
func (n *node) knownBy() []netip.Addr {
	if addresses := n.addresses.Load(); addresses != nil {
		return *addresses
	}
	return nil
}

// recoverFirst lets the way back be alone for a moment, or until it has ended; then the
// rest runs. A failure of the rest is returned once the way back has ended: who
// starts the handler again would have it begin anew.
func recoverFirst(ctx context.Context, clock deadline.Clock, recovered <-chan struct{}, rest func(context.Context) error) error {
	if clock.Wait(ctx, recovered, meanwhile); ctx.Err() != nil {
		return nil
	}
	err := rest(ctx)
	select {
	case <-recovered:
	default:
		if err != nil {
			ctrl.Log.WithName("handler").Error(err, "the handler ends when it has taken back what an earlier one left open")
			<-recovered
		}
	}
	return err
}

// begin takes back what an earlier handler left open. The channel is closed when
// that is done, or when ctx has ended.
func (n *node) begin(ctx context.Context) <-chan struct{} {
	recovered := make(chan struct{})
	go func() {
		defer close(recovered)
		if err := n.state.Recover(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "taking back what an earlier handler left open")
		}
	}()
	return recovered
}

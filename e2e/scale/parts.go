package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

// The programs' user agents, by which the audit log tells them apart.
const (
	handlerAgent     = "nmstate-handler/scale"
	controllersAgent = "nmstate-controllers/scale"
)

// manager is one process's: caches and connections are its own.
func (b *Bench) manager(userAgent string, cached cache.Options, own client.Options) (ctrl.Manager, error) {
	connection := rest.CopyConfig(b.config)
	connection.UserAgent = userAgent
	if userAgent == controllersAgent {
		connection.QPS = -1 // as in the program
	}
	return ctrl.NewManager(connection, ctrl.Options{
		Scheme: b.scheme, Cache: cached, Client: own, Logger: logr.Discard(),
		Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		// Many of the same name are in this process, and one in a real one.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
}

// startControllers starts the rollout controller as the program does, without
// the election.
func (b *Bench) startControllers(ctx context.Context) error {
	mgr, err := b.manager(controllersAgent, cache.Options{ByObject: rollout.Cached()},
		client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}})
	if err != nil {
		return fmt.Errorf("making the controllers: %w", err)
	}
	plans := rollout.New(rollout.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("nmstate-controllers"),
		Clock: rollout.NewClock(clock.RealClock{}), Grace: plan.DefaultGrace,
	})
	if err := plans.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("setting up the rollout controller: %w", err)
	}
	return b.start(ctx, mgr)
}

// startHandler starts a node's handler as the program does, on a network in
// memory.
func (b *Bench) startHandler(ctx context.Context, node string) error {
	mgr, err := b.manager(handlerAgent, policy.CacheOptions(node), client.Options{})
	if err != nil {
		return fmt.Errorf("making the handler of %s: %w", node, err)
	}
	h, wall := newHost(), clock.RealClock{}
	state, err := agent.New(agent.Options{
		Node: node, Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Backend: h, Prober: h, Journal: h, Boot: h, Clock: deadline.On(wall),
		Spawn: func(task func()) { go task() }, Window: 10 * time.Second, Version: "scale", BridgeVLANFiltering: new(true),
	})
	if err != nil {
		return err
	}
	if err := state.SetupWithManager(mgr); err != nil {
		return err
	}
	policies := policy.New(policy.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Node: node, Clock: deadline.On(wall), Events: mgr.GetEventRecorder("nmstate-handler"),
		Whole: state.Whole,
	})
	if err := policies.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	b.running.Go(func() { _ = state.Recover(ctx) }) // there is nothing to take back
	return b.start(ctx, mgr)
}

// start runs a manager until ctx ends and waits for its cache.
func (b *Bench) start(ctx context.Context, mgr ctrl.Manager) error {
	failed := make(chan error, 1)
	b.running.Go(func() { failed <- mgr.Start(ctx) })
	synced := make(chan bool, 1)
	b.running.Go(func() { synced <- mgr.GetCache().WaitForCacheSync(ctx) })
	select {
	case err := <-failed:
		return fmt.Errorf("starting: %w", err)
	case ok := <-synced:
		if !ok {
			return fmt.Errorf("filling a cache: %w", ctx.Err())
		}
		return nil
	}
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

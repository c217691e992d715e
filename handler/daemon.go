package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/access"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/events"
	"github.com/nmstate/kubernetes-nmstate/handler/observe"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// daemon runs the handler until asked ends and no transaction runs. What an earlier
// process left open is taken back before a port is opened or the API server is asked.
func daemon(asked context.Context, o options) error {
	log := ctrl.Log.WithName("handler")
	n, err := newNode(asked, o, metrics.Registry)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.WithoutCancel(asked), log))
	defer cancel()
	stop := context.AfterFunc(asked, func() {
		end(ctx, n.state, o.grace, o.grace-o.grace/5)
		cancel()
	})
	defer stop()
	recovered := n.begin(ctx)
	go func() {
		if err := observeNode(ctx, n.watcher, n.state); err != nil && ctx.Err() == nil {
			log.Error(err, "watching the node's network ended")
			<-recovered
			cancel()
		}
	}()
	return recoverFirst(ctx, n.clock, recovered, n.manage)
}

// manage runs the handler's two halves until ctx ends. Without its policy half it
// watches no policies and no enactments: a cache begins with the first who asks.
func (n *node) manage(ctx context.Context) error {
	p, err := n.parts()
	if err != nil {
		return err
	}
	o := n.options
	serving := access.Metrics(o.metricsAddr, o.metricsOpen, clock.RealClock{})
	serveState(&serving, n.state.Whole)
	restores := watch.NewRestores(clock.RealClock{}, &v1.NodeNetworkState{})
	mgr, err := ctrl.NewManager(n.config, ctrl.Options{
		Scheme:                 p.scheme,
		Cache:                  restores.Over(policy.CacheOptions(o.node)),
		MapperProvider:         knownKinds,
		HealthProbeBindAddress: o.healthAddr,
		PprofBindAddress:       o.pprofAddr,
		Metrics:                serving,
	})
	if err != nil {
		return fmt.Errorf("preparing the handler: %w", err)
	}
	policies, err := p.connect(ctx, mgr.GetClient(), mgr.GetAPIReader(),
		events.New(mgr.GetEventRecorder("nmstate-handler"), events.OfNode, clock.RealClock{}, mgr.GetLogger()))
	if err != nil {
		return err
	}
	if err := n.state.SetupWithManager(mgr); err != nil {
		return err
	}
	if policies != nil {
		if err := policies.SetupWithManager(ctx, mgr); err != nil {
			return err
		}
	}
	if err := errors.Join(addChecks(mgr, n.state), mgr.Add(restores)); err != nil {
		return err
	}
	if err := watch.Run(ctx, mgr); err != nil {
		return fmt.Errorf("running the handler: %w", err)
	}
	return nil
}

// turnLimit is how long a turn may take at the very most: it waits for the API
// server only, and a connection that is dead is given up within twenty seconds.
const turnLimit = 3 * time.Minute

// addChecks: alive is whose turns end, ready is who knows the cluster and has
// reported the node.
func addChecks(mgr ctrl.Manager, state *agent.Agent) error {
	alive := func(*http.Request) error { return state.Alive(turnLimit) }
	reported := func(*http.Request) error { return state.Ready() }
	return errors.Join(
		mgr.AddHealthzCheck("turn", alive),
		mgr.AddReadyzCheck("caches", access.CachesFilled(mgr.GetCache())), mgr.AddReadyzCheck("reported", reported),
	)
}

// end lets a transaction end, or takes it back when the patience is over, before
// the process does.
func end(ctx context.Context, state *agent.Agent, grace, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if err := state.End(ctx, patience); err != nil {
		ctrl.Log.WithName("handler").Info("the next handler takes back what this one leaves", "cause", err.Error())
	}
}

// newWatcher watches the node; that scripts change as well.
func newWatcher(scripts bool) *observe.Watcher {
	options := observe.Options{Clock: clock.RealClock{}, Log: ctrl.Log.WithName("handler").WithName("observe")}
	if scripts {
		options.Folder = profiles.ScriptsDir
	}
	return observe.New(options)
}

// observeNode tells the state handler what happens on the node, until ctx ends.
func observeNode(ctx context.Context, watcher *observe.Watcher, state *agent.Agent) error {
	go func() {
		for e := range watcher.C() {
			if e.Kind == observe.Network {
				state.NetworkChanged()
			} else {
				state.NetworkManagerRestarted()
			}
		}
	}()
	return watcher.Run(ctx)
}

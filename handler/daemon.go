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

	"github.com/nmstate/kubernetes-nmstate/controllers/policy"
	"github.com/nmstate/kubernetes-nmstate/handler/access"
	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/observe"
)

// daemon runs the handler until ctx ends. Without its policy half it watches no
// policies and no enactments: a cache begins with the first who asks. What an
// earlier process left open is taken back meanwhile: that needs no API server, so it
// does not wait for one.
func daemon(ctx context.Context, o options) error {
	p, err := newParts(ctx, o)
	if err != nil {
		return err
	}
	p.metrics = metrics.Registry
	mgr, err := ctrl.NewManager(p.config, ctrl.Options{
		Scheme:                 p.scheme,
		Cache:                  policy.CacheOptions(o.node),
		MapperProvider:         knownKinds,
		HealthProbeBindAddress: o.healthAddr,
		PprofBindAddress:       o.pprofAddr,
		Metrics:                access.Metrics(o.metricsAddr, o.metricsOpen, clock.RealClock{}),
	})
	if err != nil {
		return fmt.Errorf("preparing the handler: %w", err)
	}
	h, err := p.handlers(mgr.GetClient(), mgr.GetAPIReader(), deadline.On(clock.RealClock{}), mgr.GetEventRecorder("nmstate-handler"))
	if err != nil {
		return err
	}
	if err := h.state.SetupWithManager(mgr); err != nil {
		return err
	}
	if h.policy != nil {
		if err := h.policy.SetupWithManager(ctx, mgr); err != nil {
			return err
		}
	}
	if err := addChecks(mgr, h); err != nil {
		return err
	}
	return run(ctx, mgr, h, o.grace)
}

// turnLimit is how long a turn may take at the very most: it waits for the API
// server only, and a connection that is dead is given up within twenty seconds.
const turnLimit = 3 * time.Minute

// addChecks: alive is whose turns end, ready is who knows the cluster and has
// reported the node.
func addChecks(mgr ctrl.Manager, h *handlers) error {
	alive := func(*http.Request) error { return h.state.Alive(turnLimit) }
	reported := func(*http.Request) error { return h.state.Ready() }
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

// run lets the manager work until asked ends and no transaction runs.
func run(asked context.Context, mgr ctrl.Manager, h *handlers, grace time.Duration) error {
	log := ctrl.Log.WithName("handler")
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(context.WithoutCancel(asked), log))
	defer cancel()
	stop := context.AfterFunc(asked, func() {
		end(ctx, h.state, grace, grace-grace/5)
		cancel()
	})
	defer stop()
	watcher := observe.New(observe.Options{Clock: clock.RealClock{}, Log: log.WithName("observe")})
	go func() {
		if err := watcher.Run(ctx); err != nil && ctx.Err() == nil {
			log.Error(err, "watching the node's network ended")
			cancel()
		}
	}()
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case e, open := <-watcher.C():
				if !open {
					return
				}
				if e.Kind == observe.Network {
					h.state.NetworkChanged()
				} else {
					h.state.NetworkManagerRestarted()
				}
			}
		}
	}()
	recovered := make(chan error, 1)
	go func() { recovered <- h.state.Recover(ctx) }()
	if err := mgr.Start(ctx); err != nil {
		// The API server cannot be reached: the node saves itself all the same.
		if recoverErr := <-recovered; recoverErr != nil && ctx.Err() == nil {
			log.Error(recoverErr, "taking back what an earlier handler left open")
		}
		return fmt.Errorf("running the handler: %w", err)
	}
	return nil
}

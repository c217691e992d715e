package main

import (
	"context"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nmstate/kubernetes-nmstate/controllers/policy"
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
		Metrics:                metricsserver.Options{BindAddress: o.metricsAddr},
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
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return run(ctx, mgr, h)
}

func run(ctx context.Context, mgr ctrl.Manager, h *handlers) error {
	log := ctrl.Log.WithName("handler")
	ctx, cancel := context.WithCancel(ctrl.LoggerInto(ctx, log))
	defer cancel()
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

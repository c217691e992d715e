package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/controllers/install"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout"
	"github.com/nmstate/kubernetes-nmstate/controllers/secrets"
	"github.com/nmstate/kubernetes-nmstate/handler/events"
	"github.com/nmstate/kubernetes-nmstate/handler/policy"
)

// cacheOptions are what the manager's one cache holds. A rollout reads little
// of an object; the policy handler needs the rendered and committed states of
// enactments and the annotations of nodes as well.
func cacheOptions(o options) cache.Options {
	kept := cache.Options{ByObject: rollout.Cached()}
	if o.mode == centralized {
		kept = policy.CacheOptions("")
	}
	if o.secrets != "" {
		kept.ByObject[&corev1.Secret{}] = cache.ByObject{
			Namespaces: map[string]cache.Config{o.secrets: {}}, Transform: cache.TransformStripManagedFields(),
		}
	}
	if o.handlers != "" {
		kept.ByObject[&corev1.Pod{}] = rollout.CachedPods(o.handlers)
	}
	return kept
}

func recorder(mgr ctrl.Manager, name string) *events.Recorder {
	return events.New(mgr.GetEventRecorder(name), events.OfCluster, clock.RealClock{}, mgr.GetLogger())
}

func addControllers(ctx context.Context, mgr ctrl.Manager, o options) error {
	wall := clock.RealClock{}
	plans := rollout.New(rollout.Options{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: recorder(mgr, leaseName),
		Clock: rollout.NewClock(wall), Grace: o.nodeGrace, Handlers: o.handlers,
	})
	if err := plans.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("adding the rollout controller: %w", err)
	}
	if o.answerNMStates {
		if err := install.NewAbsent(mgr.GetClient(), wall).SetupWithManager(mgr); err != nil {
			return fmt.Errorf("adding the controller of NMState objects: %w", err)
		}
	}
	if err := secrets.New(mgr.GetClient(), o.secrets).SetupWithManager(mgr); err != nil {
		return fmt.Errorf("adding the controller of secrets: %w", err)
	}
	if o.mode != centralized {
		return nil
	}
	// Not the manager's client: that one waits until the cache shows every
	// write of this process, of whatever node. The policy handler remembers its
	// own writes.
	direct, err := client.New(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
	if err != nil {
		return fmt.Errorf("adding the policy handler: %w", err)
	}
	handler := policy.New(policy.Options{
		Client: direct, Live: mgr.GetAPIReader(), Clock: wall,
		Captures: captures(), Protected: o.protected, Commands: o.commands, Events: recorder(mgr, "nmstate-handler"),
	})
	if err := handler.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("adding the policy handler: %w", err)
	}
	return nil
}

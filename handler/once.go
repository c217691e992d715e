package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

// oncePoll is how often a pass looks whether somebody else (the rollout
// controller) has moved on.
const oncePoll = 200 * time.Millisecond

// once is client mode: bring the node to what is approved for it, report, and
// say with the exit code how it went.
func once(ctx context.Context, o options) error {
	var last verdict
	err := pass(ctx, o, &last)
	if o.output == outputJSON && !errors.Is(err, errUsage) {
		return errors.Join(err, last.write(os.Stdout, o.node, err))
	}
	return err
}

// pass takes turns until there is a last word.
func pass(ctx context.Context, o options, last *verdict) error {
	ctx, cancel := context.WithTimeout(ctx, o.onceTimeout)
	defer cancel()
	p, err := newParts(ctx, o)
	if err != nil {
		return err
	}
	direct, err := client.New(p.config, client.Options{Scheme: p.scheme})
	if err != nil {
		return fmt.Errorf("reaching the API server: %w", err)
	}
	h, err := p.handlers(direct, direct, deadline.On(clock.RealClock{}), nil)
	if err != nil {
		return err
	}
	if err := h.state.Recover(ctx); err != nil {
		return fmt.Errorf("taking back what an earlier handler left open: %w", err)
	}
	request := reconcile.Request{NamespacedName: client.ObjectKey{Name: o.node}}
	halves := []reconcile.Reconciler{h.state}
	if h.policy != nil {
		halves = []reconcile.Reconciler{h.policy, h.state}
	}
	for {
		for _, r := range halves {
			if _, err := r.Reconcile(ctx, request); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
		}
		if err := h.state.Complete(ctx); err != nil {
			return fmt.Errorf("the pass did not end within %s", o.onceTimeout)
		}
		if !h.state.Busy() {
			if err := last.look(ctx, direct, o); err != nil || last.waiting == "" {
				return errors.Join(err, last.failure())
			}
		}
		if !h.state.Wait(ctx, oncePoll) {
			return fmt.Errorf("the pass did not end within %s: %s", o.onceTimeout, last.waiting)
		}
	}
}

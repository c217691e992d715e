package once

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

// poll is how often a pass looks whether somebody else (the rollout
// controller) has moved on.
const poll = 200 * time.Millisecond

// Pass is what a pass is made of.
type Pass struct {
	Node string
	// Timeout is how long it may take, a person's confirmation included.
	Timeout time.Duration
	// Client reads from the API server itself.
	Client client.Client
	Clock  deadline.Clock
	State  *agent.Agent
	// Policy is nil where the controllers do it (centralized mode).
	Policy reconcile.Reconciler
}

// Run takes turns until there is a last word, which is in the verdict as far as
// there is one. The error says why the pass failed, or that it did not end.
func (p *Pass) Run(ctx context.Context, last *Verdict) error {
	ctx, cancel := deadline.After(ctx, p.Clock, p.Timeout)
	defer cancel()
	if err := p.State.Recover(ctx); err != nil {
		return fmt.Errorf("taking back what an earlier handler left open: %w", err)
	}
	request := reconcile.Request{NamespacedName: client.ObjectKey{Name: p.Node}}
	halves := []reconcile.Reconciler{p.State}
	if p.Policy != nil {
		halves = []reconcile.Reconciler{p.Policy, p.State}
	}
	for {
		for _, r := range halves {
			if _, err := r.Reconcile(ctx, request); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
		}
		if err := p.State.Complete(ctx); err != nil {
			return fmt.Errorf("the pass did not end within %s", p.Timeout)
		}
		if !p.State.Busy() {
			if err := last.look(ctx, p.Client, p.Node, p.Policy != nil); err != nil || last.waiting == "" {
				return errors.Join(err, last.failure())
			}
		}
		if !p.State.Wait(ctx, poll) {
			return fmt.Errorf("the pass did not end within %s: %s", p.Timeout, last.waiting)
		}
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// oncePoll is how often a pass looks whether somebody else (the rollout
// controller) has moved on.
const oncePoll = 200 * time.Millisecond

// once is client mode: bring the node to what is approved for it, report, and
// say with the exit code how it went.
func once(ctx context.Context, o options) error {
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
	h, err := p.handlers(direct, direct, clock.RealClock{}, nil)
	if err != nil {
		return err
	}
	if err := h.state.Recover(ctx); err != nil {
		return fmt.Errorf("taking back what an earlier handler left open: %w", err)
	}
	request := reconcile.Request{NamespacedName: client.ObjectKey{Name: o.node}}
	var waiting string
	for {
		for _, r := range []reconcile.Reconciler{h.policy, h.state} {
			if _, err := r.Reconcile(ctx, request); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				return err
			}
		}
		if err := h.state.Complete(ctx); err != nil {
			return fmt.Errorf("the pass did not end within %s", o.onceTimeout)
		}
		if !h.state.Busy() {
			var done bool
			if waiting, done, err = verdict(ctx, direct, o.node); done || err != nil {
				return err
			}
		}
		if !h.state.Wait(ctx, oncePoll) {
			return fmt.Errorf("the pass did not end within %s: %s", o.onceTimeout, waiting)
		}
	}
}

// verdict tells what the pass still waits for, whether it is over, and if so
// with which failure.
func verdict(ctx context.Context, c client.Client, node string) (waiting string, done bool, err error) {
	var nns v1.NodeNetworkState
	if err := c.Get(ctx, client.ObjectKey{Name: node}, &nns); err != nil {
		return "for NodeNetworkState " + node, false, client.IgnoreNotFound(err)
	}
	if nns.Spec.Managed != nil && !*nns.Spec.Managed {
		return "", true, nil
	}
	if nns.Status.ObservedGeneration != nns.Generation {
		return fmt.Sprintf("for generation %d of the desired state", nns.Generation), false, nil
	}
	var enactments v1.NodeNetworkConfigurationEnactmentList
	if err := c.List(ctx, &enactments, client.MatchingLabels{v1.EnactmentNodeLabel: node}); err != nil {
		return "", false, fmt.Errorf("reading the enactments of %s: %w", node, err)
	}
	var failures []string
	for _, e := range enactments.Items {
		switch {
		case holds(e.Status.Conditions, v1.EnactmentFailing):
			failures = append(failures, e.Name+": "+message(e.Status.Conditions, v1.EnactmentFailing))
		case holds(e.Status.Conditions, v1.EnactmentAborted):
			failures = append(failures, e.Name+": aborted")
		case !holds(e.Status.Conditions, v1.EnactmentAvailable):
			return "for enactment " + e.Name + ": " + message(e.Status.Conditions, v1.EnactmentPending), false, nil
		}
	}
	if holds(nns.Status.Conditions, v1.StateFailing) {
		failures = append(failures, "desired state of "+node+": "+message(nns.Status.Conditions, v1.StateFailing))
	}
	if len(failures) > 0 {
		return "", true, errors.New(strings.Join(failures, "; "))
	}
	return "", true, nil
}

func holds(conditions []v1.Condition, kind v1.ConditionType) bool {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Status == "True"
		}
	}
	return false
}

func message(conditions []v1.Condition, kind v1.ConditionType) string {
	for _, c := range conditions {
		if c.Type == kind {
			return c.Message
		}
	}
	return "no report yet"
}

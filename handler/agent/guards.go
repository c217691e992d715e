package agent

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// confirmTimeout is how long a person has where the probe does not say.
	confirmTimeout = 5 * time.Minute
	// httpAttempt is more than probeAttempt: a server that works may think.
	httpAttempt = 5 * time.Second
	// askAttempt bounds each look for the confirmation.
	askAttempt = 2 * time.Second
)

// guarded adds to a change what shall guard it.
func (a *Agent) guarded(nns *v1.NodeNetworkState, change txn.Change) txn.Change {
	change.Window = a.window(nns)
	change.DropDefaults = nns.Spec.DefaultProbes == v1.DefaultProbesDrop
	for _, p := range nns.Spec.Probes {
		if p.Type == v1.ProbeConfirm {
			change.Confirm = secondsOr(p.TimeoutSeconds, confirmTimeout)
			continue
		}
		change.Probes = append(change.Probes, txn.Guard{
			Name: p.Name(), Timeout: secondsOr(p.TimeoutSeconds, change.Window), Interval: secondsOr(p.IntervalSeconds, 0),
		})
	}
	return change
}

func secondsOr(seconds *int32, fallback time.Duration) time.Duration {
	if seconds == nil {
		return fallback
	}
	return time.Duration(*seconds) * time.Second
}

// pace is the time between two tries of a guard, and how long one may take.
func pace(change txn.Change, name string) (interval, attempt time.Duration) {
	interval, attempt = probeInterval, probeAttempt
	for _, guard := range change.Probes {
		if guard.Name == name && guard.Interval > 0 {
			interval = guard.Interval
		}
	}
	if strings.HasPrefix(name, string(v1.ProbeHTTP)+" ") {
		attempt = httpAttempt
	}
	return interval, attempt
}

// awaitConfirmation is the part of a turn in which only a person is waited for.
// Every other guard has passed, so the API server can mostly be reached; where
// it cannot, no turn waits long for it.
func (a *Agent) awaitConfirmation(ctx context.Context) {
	shortCtx, cancel := deadline.After(ctx, a.Clock, askAttempt)
	defer cancel()
	nns, err := a.nodeState(shortCtx)
	switch {
	case err != nil:
		logf.FromContext(ctx).V(1).Info("the confirmation cannot be read now", "cause", err.Error())
		return
	case nns == nil:
		// With its Node, mostly. One that comes back is made anew at once, not
		// after the minutes that a person would have had.
		a.step(ctx, txn.Unwanted{Reason: "the NodeNetworkState is gone, so nobody can confirm the change"})
		return
	}
	a.stepIfUnwanted(ctx, nns)
	if a.txn.AwaitsConfirmation() && confirms(nns, a.txn.Change) {
		a.step(ctx, txn.Confirmed{})
	}
}

// confirms tells whether the annotation is about what runs: the generation that
// began it, or a later one that wants the same.
func confirms(nns *v1.NodeNetworkState, change txn.Change) bool {
	generation, err := strconv.ParseInt(nns.Annotations[v1.ConfirmAnnotation], 10, 64)
	return err == nil && change.Generation <= generation && generation <= nns.Generation
}

func annotate(kind, name string, generation int64) string {
	return fmt.Sprintf("kubectl annotate --overwrite %s %s %s=%d", kind, name, v1.ConfirmAnnotation, generation)
}

// confirmationChanged lets the annotation through that a person writes.
func confirmationChanged() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetAnnotations()[v1.ConfirmAnnotation] != e.ObjectNew.GetAnnotations()[v1.ConfirmAnnotation]
	}}
}

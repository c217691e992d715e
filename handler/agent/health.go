package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// endPoll is how often it is looked whether the last transaction has ended.
	endPoll = 200 * time.Millisecond
	// lastReport bounds the telling of its outcome: the next process tells it
	// where this one cannot.
	lastReport = 5 * time.Second
)

// health is what others may ask about the turns at any time.
type health struct {
	// since is when the turn under way began; nil: there is none.
	since atomic.Pointer[time.Time]
	// reported: a turn came to its end with nothing left to tell.
	reported atomic.Bool
	// ending: no transaction is begun any more.
	ending atomic.Bool
}

// endTurn ends what takeTurn began.
func (a *Agent) endTurn() {
	a.health.since.Store(nil)
	a.turn.Unlock()
}

// Alive is an error when a turn has been under way for longer than the limit: a
// turn waits for nothing but the API server, and for that not long.
func (a *Agent) Alive(limit time.Duration) error {
	if since := a.health.since.Load(); since != nil && a.Clock.Now().Sub(*since) > limit {
		return fmt.Errorf("a turn has been under way since %s, for more than %s", since.UTC().Format(time.RFC3339), limit)
	}
	return nil
}

// Ready is an error until the node was reported: what an earlier process had
// left open is taken back by then.
func (a *Agent) Ready() error {
	switch {
	case a.health.ending.Load():
		return errors.New("the handler is about to end")
	case !a.health.reported.Load():
		return errors.New("the node has not been reported yet")
	}
	return nil
}

// End lets the transaction that runs come to its end and tells it; none is begun
// any more. One that has not ended after the patience is taken back. Whatever
// still runs when ctx ends is the next process's to take back.
func (a *Agent) End(ctx context.Context, patience time.Duration) error {
	a.health.ending.Store(true)
	log, limit := logf.FromContext(ctx), a.Clock.Now().Add(patience)
	waited, unwanted := false, false
	for a.turnUntilIdle(ctx) {
		if !waited {
			log.Info("ending once the transaction has", "patience", patience.String())
			waited = true
		}
		if !unwanted && !a.Clock.Now().Before(limit) {
			unwanted = true
			log.Info("the transaction takes too long to end: taking it back")
			if a.takeTurn(ctx) {
				a.step(ctx, txn.Unwanted{Reason: "the handler was ended before the change was proven"})
				a.endTurn()
			}
		}
		if !a.Clock.Wait(ctx, nil, endPoll) {
			return fmt.Errorf("the transaction has not ended in time: %w", ctx.Err())
		}
	}
	if !waited || !a.Busy() {
		return nil
	}
	reportCtx, cancel := deadline.After(ctx, a.Clock, lastReport)
	defer cancel()
	if _, err := a.Reconcile(reportCtx, reconcile.Request{}); err != nil {
		log.Info("the outcome is told by the next handler", "cause", err.Error())
	}
	return nil
}

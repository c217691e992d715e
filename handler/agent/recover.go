package agent

import (
	"context"
	"errors"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// recoverPoll is how often Recover looks whether NetworkManager is there.
const recoverPoll = 500 * time.Millisecond

// turnPoll is how often it is looked whether the turn is free. Turns meet only
// while what an earlier process left open is taken back.
const turnPoll = 20 * time.Millisecond

// Recover takes back what an earlier process left open. It needs neither the
// API server nor the manager, and returns when the node is as committed, or
// when ctx ends.
func (a *Agent) Recover(ctx context.Context) error {
	if a.record.left.entry == nil {
		return a.recoverUnread(ctx)
	}
	entry := *a.record.left.entry
	logf.FromContext(ctx).Info("an earlier process left a transaction open: taking it back", "phase", entry.Transaction.Phase)
	alive, known := a.alive(ctx, entry)
	for !known {
		if !a.Clock.Wait(ctx, a.wake, recoverPoll) {
			return ctx.Err()
		}
		alive, known = a.alive(ctx, entry)
	}
	entry.Transaction.Lost = entry.Transaction.Lost || a.lost(ctx, entry)

	if !a.takeTurn(ctx) {
		return ctx.Err()
	}
	a.txn.entry, a.record.left = entry, leftover{} // What cannot be read is set aside with the end.
	a.step(ctx, txn.Recovered{Journal: entry.Transaction, Alive: alive, Forgotten: a.forgotten(entry)})
	a.endTurn()
	return a.Complete(ctx)
}

// forgotten tells whether the node has booted since, and the trial was in memory.
func (a *Agent) forgotten(entry journal.Entry) bool {
	boot, err := a.Boot.ID()
	return err == nil && boot != entry.BootID && entry.Profiles != nil
}

// alive tells whether the checkpoint of an entry is there; not known while
// NetworkManager does not say. One that is taken for gone takes the change with
// it when it expires, though the change was told as committed.
func (a *Agent) alive(ctx context.Context, entry journal.Entry) (alive, known bool) {
	_, err := a.ours(ctx, entry)
	return err == nil, err == nil || errors.Is(err, backend.ErrGone)
}

// Complete takes turns until no transaction runs, or until ctx ends. They need
// nothing but the node, except to hear a person's confirmation: whoever calls Reconcile with a client that has no cache
// would wait in it for the API server that the change has just cut off.
func (a *Agent) Complete(ctx context.Context) error {
	for a.turnUntilIdle(ctx) {
		if !a.Clock.Wait(ctx, a.wake, recoverPoll) {
			return ctx.Err()
		}
	}
	return nil
}

// turnUntilIdle takes a turn that waits for no API server and tells whether the
// transaction still runs.
func (a *Agent) turnUntilIdle(ctx context.Context) bool {
	if !a.takeTurn(ctx) {
		return true
	}
	defer a.endTurn()
	a.hear(ctx)
	a.drain(ctx)
	if a.txn.AwaitsConfirmation() {
		a.awaitConfirmation(ctx)
	}
	a.tellRunning(ctx)
	return a.txn.Running()
}

// takeTurn waits until nobody else takes a turn; false when ctx ended first.
func (a *Agent) takeTurn(ctx context.Context) bool {
	for !a.turn.TryLock() {
		if !a.Clock.Wait(ctx, nil, turnPoll) {
			return false
		}
	}
	now := a.Clock.Now()
	a.health.since.Store(&now)
	return true
}

// Busy tells whether something is under way that the node or the API server
// has not heard the end of.
func (a *Agent) Busy() bool {
	if !a.turn.TryLock() {
		return true
	}
	defer a.turn.Unlock()
	return a.txn.Running() || !a.record.isSettled()
}

// Wait waits for news from the node, at most so long; false when ctx ended.
func (a *Agent) Wait(ctx context.Context, d time.Duration) bool { return a.Clock.Wait(ctx, a.wake, d) }

package agent

import (
	"context"
	"fmt"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// idle is a turn without a transaction: what package idle says, one action after the
// other.
func (a *Agent) idle(ctx context.Context) (reconcile.Result, error) {
	closed := a.closeJournal(ctx)
	nns, err := a.nodeState(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := a.situation(nns, closed)
	if now.Object == idle.Managed {
		if record.IsRestored(a.record.Record, now.Wanted.Change) || a.countsAgain(ctx, nns) {
			if err := a.forgetGenerations(ctx); err != nil {
				return reconcile.Result{}, err
			}
		}
		a.keepWarm(ctx)
	}
	for {
		now.Past, now.Ending, now.Now = record.Past(a.record.Record), a.health.ending.Load(), a.Clock.Now()
		now.Closed = a.record.closing == stored // What was committed without a trial may not be on the disk.
		action, stage := idle.Decide(now)
		var wait time.Duration
		switch action := action.(type) {
		case idle.Create:
			return reconcile.Result{}, a.create(ctx)
		case idle.TellSetAside:
			return reconcile.Result{RequeueAfter: action.After}, a.setAside(ctx, nns)
		case idle.Rest:
			return reconcile.Result{RequeueAfter: action.For}, nil
		case idle.TellOutcome:
			err = a.report(ctx, nns)
		case idle.Report:
			err = a.reportIdle(ctx, nns)
			wait = a.untilNews()
		case idle.Correct:
			err = a.correct(ctx, nns)
			wait = soonest(a.untilRead(), a.drift.Wait(a.Clock.Now()))
		default:
			wait, err = a.enforce(ctx, nns, action)
		}
		if a.txn.Running() {
			return reconcile.Result{RequeueAfter: a.untilTick()}, err
		}
		if err != nil {
			return reconcile.Result{}, err
		}
		now.Stage, now.Wait = stage, soonest(now.Wait, wait)
	}
}

// situation is what a turn begins with.
func (a *Agent) situation(nns *v1.NodeNetworkState, closed bool) idle.Situation {
	s := idle.Situation{Closed: closed, Untold: a.record.untold, Node: a.Node, Backoff: a.Backoff}
	switch {
	case nns == nil:
		return s
	case !managed(nns):
		s.Object = idle.SetAside
		return s
	}
	s.Object = idle.Managed
	s.Wanted = idle.Wanted{
		Change:  a.guarded(nns, txn.Change{Generation: nns.Generation, Hash: a.hashOf(nns.Spec.DesiredState)}),
		Nothing: nns.Spec.DesiredState.IsZero(), Sources: nns.Spec.Sources, Policy: nns.Spec.Policy,
	}
	return s
}

func (a *Agent) reportIdle(ctx context.Context, nns *v1.NodeNetworkState) error {
	a.lookAgain(nns)
	err := a.report(ctx, nns)
	if err == nil {
		a.health.reported.Store(true)
	}
	return err
}

// setAside is a turn on a node that nobody manages: nothing is reported, but for
// that, once.
func (a *Agent) setAside(ctx context.Context, nns *v1.NodeNetworkState) error {
	a.inbox.dirty.Store(true) // Report anew, and at once, when it is managed again.
	a.reported.atOnce = true
	a.drift = drift{}
	err := a.tellSetAside(ctx, nns)
	if err == nil {
		a.health.reported.Store(true)
	}
	return err
}

// untilRead is how long until what was not read, or could not be, is read: nothing else
// may ever ask for it. Zero for what was read.
func (a *Agent) untilRead() time.Duration {
	const readRetry = 5 * time.Second
	if !a.inbox.dirty.Load() {
		return 0
	}
	if wait := a.reads.wait(a.Clock.Now()); wait > 0 {
		return wait
	}
	return readRetry
}

// soonest of two waits; zero is none.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// reportOnly is a turn while Recover still waits for NetworkManager.
func (a *Agent) reportOnly(ctx context.Context) error {
	nns, err := a.nodeState(ctx)
	if err == nil && nns != nil && managed(nns) {
		err = a.report(ctx, nns)
	}
	return err
}

// reportMeanwhile reports what it can while the way back waits, and never
// makes that wait for the API server.
func (a *Agent) reportMeanwhile(ctx context.Context) {
	const reportAttempt = 2 * time.Second
	shortCtx, cancel := deadline.After(ctx, a.Clock, reportAttempt)
	defer cancel()
	a.reads.shown = nil // What was read back is not proven.
	if err := a.reportOnly(shortCtx); err != nil {
		logf.FromContext(ctx).V(1).Info("the node cannot be reported now", "cause", err.Error())
	}
}

// enforce does what was decided about the desired state, and returns how long to wait
// for the next attempt, zero for none.
func (a *Agent) enforce(ctx context.Context, nns *v1.NodeNetworkState, action idle.Action) (time.Duration, error) {
	waited := a.txn.waiting
	a.txn.waiting = nil
	a.record.Record = record.Decided(a.record.Record, action, nns.Spec.Sources)
	switch action := action.(type) {
	case idle.Forget:
		a.txn.waiting = waited // What is wanted is decided on next.
	case idle.Repeat:
		a.record.untold = true
		a.poke()
		return 0, a.store(ctx)
	case idle.Adopt:
		if len(a.drift.Found) > 0 {
			a.inbox.dirty.Store(true) // Its owner may want something else done about it now, and no event tells of it again.
		}
		return 0, a.store(ctx)
	case idle.Pause:
		a.record.untold = a.record.untold || action.Last != nil
		return action.For, nil
	case idle.Begin:
		return a.begin(ctx, nns, waited)
	default:
		panic(fmt.Sprintf("agent: unknown action %T", action))
	}
	return 0, nil
}

// begin begins a transaction for what is wanted, where nothing is in its way. It returns
// how long to wait for the next attempt, zero for none.
func (a *Agent) begin(ctx context.Context, nns *v1.NodeNetworkState, waited *v1.Transaction) (time.Duration, error) {
	hash := a.hashOf(nns.Spec.DesiredState)
	found, unknown := a.obstacle(ctx)
	if found != nil {
		a.wait(nns, waited, found)
		return found.look, nil
	}
	a.txn.entry = journal.Entry{Since: a.begins(nns, waited), Sources: nns.Spec.Sources, Desired: orEmpty(nns.Spec.DesiredState.Raw), Secrets: nns.Spec.Secrets}
	a.txn.entry.Removal = record.IsRemoval(a.record.Record, nns.Spec)
	change := a.guarded(nns, txn.Change{
		Generation: nns.Generation, Hash: hash, Policy: record.ChangedPolicy(a.record.Record, nns.Spec), Interrupted: a.record.Interrupted.Of(hash, v1.PlainSources(nns.Spec.Sources)),
	})

	if old := a.tooOld(ctx); old != "" {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Message: old})
		return 0, nil
	}
	desired, err := a.understood(nns)
	if err != nil {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Final: true, Message: "reading the desired state: " + oneLine(err)})
		return 0, nil
	}
	// What a person writes may be spelled in any way; from here on it is in one.
	desired = state.Canonical(desired)
	a.txn.entry.Desired = desired.JSON()
	delta, err := a.delta(desired)
	if err != nil {
		return 0, err
	}
	undo, err := a.undo(ctx, nns, desired)
	if err != nil {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Message: "undoing: " + oneLine(err)})
		return 0, nil
	}
	if a.txn.entry.Undo = !undo.IsEmpty(); a.txn.entry.Undo {
		a.txn.entry.Scripts = a.record.Scripts.Without(desired)
	}
	delta = state.Union(delta, undo)
	if unknown != nil && (delta.IsEmpty() || a.takesOver(nns.Spec)) {
		found = unasked(unknown)
		a.wait(nns, waited, found)
		return found.look, nil
	}
	if wait, over := a.withoutTrial(ctx, nns.Spec, change, delta); over {
		return wait, nil
	}
	if _, _, err := a.reveal(delta, a.txn.entry.Secrets); err != nil {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Message: "reading the secrets of the desired state: " + oneLine(err)})
		return 0, nil
	}
	a.txn.entry.Change = delta.JSON()
	if last := a.record.Last; last != nil && last.Generation == nns.Generation && last.Attempts > 0 {
		a.metrics.retried(a.Node)
	}
	a.step(ctx, txn.Wanted{Change: change})
	return 0, nil
}

// understood is the desired state, unless it is refused.
func (a *Agent) understood(nns *v1.NodeNetworkState) (state.State, error) {
	desired, err := state.ParseDesired(nns.Spec.DesiredState.Raw)
	if err == nil {
		err = a.checkCommands(desired)
	}
	if err == nil {
		err = v1.CheckProbes("spec.probes", nns.Spec.Probes)
	}
	return desired, err
}

// withoutTrial commits what needs no transaction. It returns false where one is needed.
func (a *Agent) withoutTrial(ctx context.Context, spec v1.NodeNetworkStateSpec, change txn.Change, delta state.State) (wait time.Duration, over bool) {
	switch {
	case delta.IsEmpty():
		return a.commitUntried(ctx, change, a.txn.entry, ""), true
	case a.takesOver(spec):
		return a.takeOver(ctx, change, delta)
	}
	return 0, false
}

// takesOver tells whether the desired state may be in place already, as another project left it.
func (a *Agent) takesOver(spec v1.NodeNetworkStateSpec) bool {
	return !a.txn.entry.Undo && record.IsTakeOver(a.record.Record, spec)
}

// commitUntried commits what the node has already, without a trial. Like one it reads
// the desired state live: that of long ago, committed, would stay in the record, and
// the next policy's change be told as another one's.
func (a *Agent) commitUntried(ctx context.Context, change txn.Change, entry journal.Entry, message string) time.Duration {
	if cause := a.stillWanted(ctx, change, entry.Sources); cause != nil {
		logf.FromContext(ctx).Info("nothing is committed", "generation", change.Generation, "cause", cause.Message)
		return idle.SupersededPause
	}
	a.txn.entry = entry
	a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionCommitted, Message: message})
	return 0
}

// delta is the part of the desired state that the change touches, so that the
// cost follows the change and not the node.
func (a *Agent) delta(desired state.State) (state.State, error) {
	if a.record.Committed == nil {
		return desired, nil
	}
	from, err := state.Parse(a.record.Committed.Desired)
	if err != nil {
		return state.State{}, fmt.Errorf("reading the committed state: %w", err)
	}
	return state.Delta(from, desired), nil
}

func (a *Agent) window(nns *v1.NodeNetworkState) time.Duration {
	if seconds := nns.Spec.ProbeTimeoutSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return a.Window
}

func orEmpty(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

package agent

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// idle is a turn without a transaction: report, then begin what is wanted.
func (a *Agent) idle(ctx context.Context) (reconcile.Result, error) {
	closed := a.closeJournal(ctx)
	nns, err := a.nodeState(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if nns == nil {
		return reconcile.Result{}, a.create(ctx)
	}
	if !managed(nns) {
		return a.setAside(ctx, nns, closed)
	}
	a.keepWarm(ctx)
	if a.unreported && (closed || !a.hasCommitted()) {
		// An outcome is told before the next change begins: it has an author
		// who waits for it.
		if err := a.report(ctx, nns); err != nil {
			return reconcile.Result{}, err
		}
	}
	if !closed {
		return reconcile.Result{RequeueAfter: closeRetry}, nil
	}
	if a.health.isEnding() {
		return reconcile.Result{}, nil
	}
	wait, err := a.enforce(ctx, nns)
	if err != nil || a.machine.Running() {
		return reconcile.Result{RequeueAfter: a.untilTick()}, err
	}
	a.lookAgain(nns)
	if err := a.report(ctx, nns); err != nil {
		return reconcile.Result{}, err
	}
	a.health.told()
	if err := a.correct(ctx, nns); err != nil || a.machine.Running() {
		return reconcile.Result{RequeueAfter: a.untilTick()}, err
	}
	return reconcile.Result{RequeueAfter: soonest(wait, soonest(a.untilRead(), a.untilLook()))}, nil
}

// setAside is a turn on a node that nobody manages: nothing is reported, but for
// that, once.
func (a *Agent) setAside(ctx context.Context, nns *v1.NodeNetworkState, closed bool) (reconcile.Result, error) {
	a.inbox.setDirty(true) // Report anew when it is managed again.
	a.drift = drift{}
	if err := a.tellSetAside(ctx, nns); err != nil {
		return reconcile.Result{}, err
	}
	a.health.told()
	if !closed {
		return reconcile.Result{RequeueAfter: closeRetry}, nil
	}
	return reconcile.Result{}, nil
}

// untilRead is how long until what could not be read is read again: nothing
// else may ever ask for it. Zero for what was read.
func (a *Agent) untilRead() time.Duration {
	const readRetry = 5 * time.Second
	if a.inbox.isDirty() {
		return readRetry
	}
	return 0
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
	a.shown = nil // What was read back is not proven.
	if err := a.reportOnly(shortCtx); err != nil {
		logf.FromContext(ctx).V(1).Info("the node cannot be reported now", "cause", err.Error())
	}
}

// enforce begins a transaction if the desired state is not the committed one.
// It returns how long to wait for the next attempt, zero for none.
func (a *Agent) enforce(ctx context.Context, nns *v1.NodeNetworkState) (time.Duration, error) {
	hash, committed := a.hashOf(nns.Spec.DesiredState), a.record.Committed
	waited := a.waiting
	a.waiting = nil
	if again, err := a.hasFailed(nns, hash); again || err != nil {
		return 0, err
	}
	switch {
	case committed == nil && nns.Spec.DesiredState.IsZero():
		return 0, nil
	case committed != nil && committed.Hash == hash:
		return 0, a.adoptSources(nns)
	}
	if wait, again := a.mayTry(nns); !again {
		return wait, nil
	}
	if found := a.obstacle(ctx); found != nil {
		a.wait(nns, waited, found)
		return found.look, nil
	}
	policy := changedPolicy(nns.Spec, committed)
	a.entry = journal.Entry{Since: a.begins(nns, waited), Sources: nns.Spec.Sources, Desired: orEmpty(nns.Spec.DesiredState.Raw), Secrets: nns.Spec.Secrets}
	a.entry.Removal = isRemoval(nns, committed)
	change := a.guarded(nns, txn.Change{
		Generation: nns.Generation, Hash: hash, Policy: policy, Interrupted: a.interruptions(hash, v1.PlainSources(nns.Spec.Sources)),
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
	a.entry.Desired = desired.JSON()
	delta, err := a.delta(desired)
	if err != nil {
		return 0, err
	}
	undo, err := a.undo(ctx, nns, desired)
	if err != nil {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Message: "undoing: " + oneLine(err)})
		return 0, nil
	}
	if a.entry.Undo = !undo.IsEmpty(); a.entry.Undo {
		a.entry.Scripts = a.record.Scripts.Without(desired)
	}
	delta = state.Union(delta, undo)
	if wait, over := a.withoutTrial(ctx, nns.Spec, change, delta); over {
		return wait, nil
	}
	if _, _, err := a.reveal(delta, a.entry.Secrets); err != nil {
		a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionRefused, Message: "reading the secrets of the desired state: " + oneLine(err)})
		return 0, nil
	}
	a.entry.Change = delta.JSON()
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
		return a.commitNothing(ctx, change), true
	case !a.entry.Undo && isTakeOver(spec, a.record.Committed):
		return a.takeOver(ctx, change, delta)
	}
	return 0, false
}

// commitNothing commits what the node has already, without a trial. Like one it reads
// the desired state live: that of long ago, committed, would stay in the record, and
// the next policy's change be told as another one's.
func (a *Agent) commitNothing(ctx context.Context, change txn.Change) time.Duration {
	if cause := a.stillWanted(ctx, change, a.entry.Sources); cause != nil {
		logf.FromContext(ctx).Info("nothing is committed", "generation", change.Generation, "cause", cause.Message)
		return supersededPause
	}
	a.finish(ctx, txn.Outcome{Change: change, Result: v1.TransactionCommitted})
	return 0
}

// adoptSources notes that the committed state now comes from other generations
// of the policies: nothing is applied.
func (a *Agent) adoptSources(nns *v1.NodeNetworkState) error {
	if equalSources(nns.Spec.Sources, a.record.Committed.Sources) {
		return nil
	}
	policy := changedPolicy(nns.Spec, a.record.Committed)
	a.record.Committed.Sources = nns.Spec.Sources
	if len(a.drift.found) > 0 {
		a.inbox.setDirty(true) // Its owner may want something else done about it now, and no event tells of it again.
	}
	a.record.Last = &v1.Transaction{
		Generation: nns.Generation, Phase: string(txn.Idle), Since: *reported(a.Clock.Now()),
		Policy: policy, Sources: v1.PlainSources(nns.Spec.Sources), Result: v1.TransactionCommitted,
	}
	return a.store()
}

// mayTry tells whether this generation is to be tried now, or after a wait.
func (a *Agent) mayTry(nns *v1.NodeNetworkState) (time.Duration, bool) {
	last := a.record.Last
	if last == nil || last.Generation != nns.Generation {
		return 0, true
	}
	switch {
	case last.Result == v1.TransactionCommitted:
		return 0, true
	case last.RetryAfter == nil: // The policy handler decides when to propose it again.
		return 0, false
	}
	wait := last.RetryAfter.Sub(a.Clock.Now())
	if most := a.longestWait(last); wait > most {
		// By a clock that was ahead then, or is behind now: how much of the wait is
		// over nobody knows.
		again := *last
		again.RetryAfter = reported(a.Clock.Now().Add(most))
		a.record.Last, a.unreported = &again, true
		return most, false
	}
	return wait, wait <= 0
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

// changedPolicy is the policy in which the desired sources differ from the
// committed ones: by rule there is one; a removal has no author. Where another one
// comes back with it, the spec says which of them it is.
func changedPolicy(spec v1.NodeNetworkStateSpec, committed *journal.Committed) string {
	known := map[string]string{}
	if committed != nil {
		for _, s := range committed.Sources {
			known[s.Policy] = s.Hash
		}
	}
	first := ""
	for _, s := range spec.Sources {
		switch {
		case known[s.Policy] == s.Hash:
		case s.Policy == spec.Policy:
			return s.Policy
		case first == "":
			first = s.Policy
		}
	}
	return first
}

func equalSources(a, b []v1.DesiredSource) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equality.Semantic.DeepEqual(a[i], b[i]) {
			return false
		}
	}
	return true
}

func orEmpty(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

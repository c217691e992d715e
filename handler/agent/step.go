package agent

import (
	"context"
	"fmt"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// step lets the machine decide on one event, writes the journal, then performs
// what it decided: persist, then act.
func (a *Agent) step(ctx context.Context, e txn.Event) {
	before := a.machine
	next, effects := txn.Step(before, e)
	_, seen := e.(txn.Seen) // Of the entry, not of where the transaction stands.
	if next.Open() && (seen || worthWriting(before, next)) {
		a.entry.Transaction = next
		if err := a.Journal.Save(a.entry); err != nil {
			_, recovering := e.(txn.Recovered)
			begins := before.Phase == txn.Probing && next.Phase == txn.Committing // Nothing on disk that the journal does not know.
			if recovering || before.Open() && !begins {
				// The older entry is still there and leads back just as well.
				logf.FromContext(ctx).Error(err, "cannot bring the journal up to date", "phase", next.Phase)
			} else {
				before.Intact = next.Intact // That is so all the same.
				next, effects = txn.Step(before, txn.NotArmed{Cause: txn.Cause{Message: err.Error()}})
			}
		}
	}
	a.machine = next
	if !before.Running() && next.Running() {
		a.telling = telling{Telling: txn.NewTelling(a.Clock.Now())}
	}
	a.metrics.stepped(a.Node, before, next, e, a.Clock.Now())
	if before.Phase != next.Phase {
		logf.FromContext(ctx).Info("transaction", "phase", next.Phase, "from", before.Phase,
			"generation", a.entryOr(next).Generation, "policy", a.entryOr(next).Policy, "cause", causeOf(next))
	}
	if passed, is := e.(txn.ProbePassed); is && before.Phase == txn.Probing {
		logf.FromContext(ctx).Info("guard passed", "guard", passed.Name, "policy", before.Change.Policy)
	}
	for _, effect := range effects {
		a.perform(ctx, effect)
	}
}

// worthWriting leaves out what recovery does not need to know.
func worthWriting(before, next txn.State) bool {
	return before.Phase != next.Phase || before.Checkpoint != next.Checkpoint ||
		before.Lost != next.Lost || before.Restored != next.Restored || before.Reverted != next.Reverted ||
		before.LastResort != next.LastResort
}

func (a *Agent) entryOr(s txn.State) txn.Change {
	if s.Running() {
		return s.Change
	}
	return a.entry.Transaction.Change
}

func causeOf(s txn.State) string {
	if s.Cause == nil {
		return ""
	}
	return s.Cause.Message
}

// perform starts an effect as a task, or does it when it is quick.
func (a *Agent) perform(ctx context.Context, effect txn.Effect) {
	switch effect := effect.(type) {
	case txn.MeasureBaseline:
		a.measureBaseline(ctx, effect.In)
	case txn.Arm:
		a.startArm(ctx)
	case txn.Apply:
		a.startApply(ctx)
	case txn.KillApply:
		a.tasks.kill()
	case txn.Probe:
		a.startProbes(ctx, effect.Names)
	case txn.StopProbes:
		a.tasks.stop()
	case txn.Commit:
		entry := a.entry
		a.task(ctx, func(ctx context.Context) txn.Event { return a.commit(ctx, entry) })
	case txn.Rollback:
		a.startRollback(ctx, effect.Intact)
	case txn.Restore:
		a.startRestore(ctx)
	case txn.Revert:
		entry := a.entry
		a.task(ctx, func(ctx context.Context) txn.Event { return a.revert(ctx, entry) })
	case txn.Settle:
		entry := a.entry
		a.task(ctx, func(ctx context.Context) txn.Event { return a.settle(ctx, entry) })
	case txn.Finish:
		a.finish(ctx, effect.Outcome)
	default:
		panic(fmt.Sprintf("agent: unknown effect %T", effect))
	}
}

// task runs one effect beside the turns. It outlives the turn's context on
// purpose: what is under way must be finished by the process, not by a turn.
func (a *Agent) task(ctx context.Context, run func(ctx context.Context) txn.Event) {
	taskCtx, number := a.tasks.begin(context.WithoutCancel(ctx))
	a.Spawn(func() { a.post(number, run(taskCtx)) })
}

// finish records the outcome, then closes the journal.
func (a *Agent) finish(ctx context.Context, outcome txn.Outcome) {
	a.tasks.stop()
	if a.telling.cancel != nil {
		a.telling.cancel() // The outcome is told instead.
	}
	a.metrics.ended(a.Node, outcome.Result, a.Clock.Now())
	logf.FromContext(ctx).Info("transaction ended", "result", outcome.Result,
		"generation", outcome.Change.Generation, "policy", outcome.Change.Policy, "message", outcome.Message)
	if outcome.Result != v1.TransactionCommitted {
		a.shown = nil // What was read back is not there any more.
	}
	a.remember(ctx, outcome)
	a.closing = unstored
	if outcome.Result == v1.TransactionRollbackIncomplete {
		a.closing = unflushed
	}
	_ = a.storeOutcome(ctx) // The turn that follows at once tries again, and tells.
	a.unreported = true
	a.inbox.setDirty(true)
	a.poke()
}

// remember has the record say how the transaction ended.
func (a *Agent) remember(ctx context.Context, outcome txn.Outcome) {
	now := a.Clock.Now()
	ended := record.Ended{
		Entry: a.entry, Outcome: outcome, At: now, Drift: a.drift.Drift, Damping: a.Damping, Node: a.Node, Backoff: a.Backoff,
	}
	ended.Free = ended.MayBeInVain(a.record) && a.isFree(ctx)
	var err error
	if a.record, err = ended.After(a.record); err != nil {
		logf.FromContext(ctx).Error(err, "cannot note what was there before")
	}
	if len(a.entry.Correction) == 0 {
		return
	}
	a.metrics.corrected(a.Node, outcome.Result)
	if outcome.Result == v1.TransactionSuperseded {
		a.drift.Hold(now)
	}
}

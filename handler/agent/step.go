package agent

import (
	"context"
	"fmt"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// step lets the transaction decide on one event, writes the journal, then performs
// what it decided: persist, then act.
func (a *Agent) step(ctx context.Context, e txn.Event) {
	log, before := logf.FromContext(ctx), a.txn.State
	effects, err := a.txn.step(e, a.Clock.Now, a.Journal.Save)
	if err != nil {
		log.Error(err, "cannot bring the journal up to date", "phase", a.txn.Phase)
	}
	a.metrics.stepped(a.Node, before, a.txn.State, e, a.Clock.Now())
	if before.Phase != a.txn.Phase {
		about := a.txn.about()
		log.Info("transaction", "phase", a.txn.Phase, "from", before.Phase, "generation", about.Generation, "policy", about.Policy, "cause", causeOf(a.txn.State))
	}
	if passed, is := e.(txn.ProbePassed); is && before.Phase == txn.Probing {
		log.Info("guard passed", "guard", passed.Name, "policy", before.Change.Policy)
	}
	for _, effect := range effects {
		a.perform(ctx, effect)
	}
}

func causeOf(s txn.State) string {
	if s.Cause == nil {
		return ""
	}
	return s.Cause.Message
}

// perform starts an effect as a task, or does it when it is quick.
func (a *Agent) perform(ctx context.Context, effect txn.Effect) {
	entry := a.txn.entry
	switch effect := effect.(type) {
	case txn.MeasureBaseline:
		a.measureBaseline(ctx, effect.In)
	case txn.Arm:
		change := a.txn.Change
		a.task(ctx, func(ctx context.Context, send func(letter)) { send(a.arm(ctx, change, entry)) })
	case txn.Apply:
		life := a.txn.Change.RollbackAfter()
		a.task(ctx, func(ctx context.Context, send func(letter)) { send(a.apply(ctx, entry, life, send)) })
	case txn.KillApply:
		a.tasks.kill()
	case txn.Probe:
		a.startProbes(ctx, effect.Names)
	case txn.StopProbes:
		a.tasks.stop()
	case txn.Commit:
		a.task(ctx, func(ctx context.Context, send func(letter)) { send(a.commits(ctx, entry)) })
	case txn.Rollback:
		a.task(ctx, func(ctx context.Context, send func(letter)) {
			a.noteSince(ctx, &entry, effect.Intact)
			event := a.rollback(ctx, &entry, effect.Intact)
			send(letter{event: event, entry: &entry})
		})
	case txn.Restore:
		a.task(ctx, func(ctx context.Context, send func(letter)) {
			event := a.restore(ctx, &entry)
			send(letter{event: event, entry: &entry})
		})
	case txn.Revert:
		a.task(ctx, func(ctx context.Context, send func(letter)) { send(letter{event: a.revert(ctx, entry)}) })
	case txn.Settle:
		a.task(ctx, func(ctx context.Context, send func(letter)) { send(letter{event: a.settle(ctx, entry)}) })
	case txn.Finish:
		a.finish(ctx, effect.Outcome)
	default:
		panic(fmt.Sprintf("agent: unknown effect %T", effect))
	}
}

// task runs one effect beside the turns, which sends what comes of it. It outlives the
// turn's context on purpose: what is under way must be finished by the process, not by a
// turn.
func (a *Agent) task(ctx context.Context, run func(ctx context.Context, send func(letter))) {
	taskCtx, number := a.tasks.begin(context.WithoutCancel(ctx))
	a.Spawn(func() {
		run(taskCtx, func(l letter) {
			l.task = number
			a.send(l)
		})
	})
}

// finish records the outcome, then closes the journal.
func (a *Agent) finish(ctx context.Context, outcome txn.Outcome) {
	a.tasks.stop()
	if a.txn.telling.cancel != nil {
		a.txn.telling.cancel() // The outcome is told instead.
	}
	a.metrics.ended(a.Node, outcome.Result, a.Clock.Now())
	logf.FromContext(ctx).Info("transaction ended", "result", outcome.Result,
		"generation", outcome.Change.Generation, "policy", outcome.Change.Policy, "message", outcome.Message)
	if outcome.Result != v1.TransactionCommitted {
		a.reads.shown = nil // What was read back is not there any more.
	}
	a.remember(ctx, outcome)
	if a.Ended != nil {
		a.Ended()
	}
	_ = a.storeOutcome(ctx) // The turn that follows at once tries again, and tells.
	a.inbox.dirty.Store(true)
	a.reported.atOnce = true
	a.poke()
}

// remember has the record say how the transaction ended.
func (a *Agent) remember(ctx context.Context, outcome txn.Outcome) {
	now := a.Clock.Now()
	ended := record.Ended{
		Entry: a.txn.entry, Outcome: outcome, At: now, Drift: a.drift.Drift, Damping: a.Damping, Node: a.Node, Backoff: a.Backoff,
	}
	ended.Free = ended.MayBeInVain(a.record.Record) && a.isFree(ctx)
	next, err := ended.After(a.record.Record)
	if err != nil {
		logf.FromContext(ctx).Error(err, "cannot note what was there before")
	}
	first := unstored
	if outcome.Result == v1.TransactionRollbackIncomplete {
		first = unflushed
	}
	a.record.end(next, first)
	if len(a.txn.entry.Correction) == 0 {
		return
	}
	a.metrics.corrected(a.Node, outcome.Result)
	if outcome.Result == v1.TransactionSuperseded {
		a.drift.Hold(now)
	}
}

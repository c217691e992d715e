package agent

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// warmAttempt bounds a probe of the background measurement, in which a
	// dead target costs nobody anything.
	warmAttempt = 3 * time.Second
	// guardAttempt bounds a probe that passed lately and is asked once more
	// right before a change.
	guardAttempt = time.Second
	// warmInterval is the least time between two background measurements.
	warmInterval = 30 * time.Second
)

// baseline knows which probes passed lately on the committed state, so that a
// change need not wait for those that do not answer anyway.
type baseline struct {
	mu     sync.Mutex
	clock  clock.PassiveClock
	passed map[string]bool
	at     time.Time
	busy   bool
	// answered: some probe has passed since this process began.
	answered bool
}

// begin tells whether a background measurement is due, and takes it on.
func (b *baseline) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy || (!b.at.IsZero() && b.clock.Since(b.at) < warmInterval) {
		return false
	}
	b.busy = true
	return true
}

func (b *baseline) end(passed map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy, b.passed, b.at = false, passed, b.clock.Now()
	b.answered = b.answered || slices.Contains(slices.Collect(maps.Values(passed)), true)
}

// hasAnswered tells whether some probe has passed before, in the background.
func (b *baseline) hasAnswered() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answered
}

// known returns what passed lately; nil before the first measurement.
func (b *baseline) known() map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.passed
}

// keepWarm measures in the background when the last measurement is old.
func (a *Agent) keepWarm(ctx context.Context) {
	if !a.warm.begin() {
		return
	}
	a.measure(context.WithoutCancel(ctx), a.Prober.Names(), nil, warmAttempt, nil, func(found answers) { a.warm.end(found.passed) })
}

// measureBaseline asks every default probe, unless the change does without them,
// and waits for those that passed lately, which are asked twice; one that did
// not pass counts if it answers no later than they do. So it is with each target
// of a probe.
// Side by side with them it reads the state that the change starts from, unless that is
// known. Where nothing answered the last time it pauses first.
func (a *Agent) measureBaseline(ctx context.Context, pause time.Duration) {
	taskCtx, number := a.tasks.begin(context.WithoutCancel(ctx))
	lately, attempt := a.warm.known(), guardAttempt
	if lately == nil {
		attempt = warmAttempt
	}
	names := a.Prober.Names()
	if a.txn.Change.DropDefaults {
		names = nil
	}
	guarded, targets := a.guardedBefore(names)
	entry := a.txn.entry
	var before state.State
	var unread error
	known := a.reads.unchanged(entry.Change, a.note())
	if pause > 0 {
		known = nil // Much may be heard in the meantime.
	}
	read := func() {
		if known != nil {
			before = *known
			return
		}
		before, unread = a.Backend.Show(taskCtx)
	}
	done := func(found answers) {
		if unread == nil {
			entry.Before, entry.KnownBy = before.JSON(), a.knownBy(before)
		}
		measured := guardWith(&entry, names, guarded, targets, found)
		measured.Answered = len(measured.Silent) > 0 && a.warm.hasAnswered()
		a.send(letter{task: number, event: measured, entry: &entry})
	}
	if pause == 0 {
		a.measure(taskCtx, names, lately, attempt, read, done)
		return
	}
	a.Spawn(func() {
		if a.Clock.Wait(taskCtx, nil, pause) {
			a.measure(taskCtx, names, lately, attempt, read, done)
		}
	})
}

// guardWith notes in the entry what guards its change: the default probes of these names
// that passed, or guarded its last attempt, each with the targets that have to answer.
func guardWith(entry *journal.Entry, names, guarded []string, targets map[string]guard.Before, found answers) txn.BaselineMeasured {
	var measured txn.BaselineMeasured
	entry.Targets = map[string]guard.Before{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if found.passed[name] || slices.Contains(guarded, name) {
			measured.Passed = append(measured.Passed, name)
			if known := found.before(name).With(targets[name]); len(known.Answered) > 0 {
				entry.Targets[name] = known
			}
		}
	}
	entry.NotVerified = notGuarded(*entry)
	if len(measured.Passed) == 0 && len(entry.Correction) == 0 { // Drift may be why nothing answers.
		measured.Silent = names
	}
	return measured
}

// guardedBefore are the default probes that guarded the last attempt at the same
// change. The committed state is what it was, so they guard this one too (design
// §2, Baseline: never measured anew on a retry): what answers nobody for a moment
// after a rollback would leave the next attempt without a guard. So do the targets.
func (a *Agent) guardedBefore(names []string) ([]string, map[string]guard.Before) {
	last := a.record.Last
	if last == nil || last.Result == v1.TransactionCommitted || !a.isRetryOf(*last) {
		return nil, nil
	}
	kept := slices.DeleteFunc(slices.Clone(last.GuardedBy), func(name string) bool { return !slices.Contains(names, name) })
	return kept, a.record.Targets
}

// isRetryOf tells whether the change that begins was tried last: in the same generation, or
// from the same policies. Whoever wants those tried again writes a newer generation.
func (a *Agent) isRetryOf(last v1.Transaction) bool {
	sources := v1.PlainSources(a.txn.entry.Sources)
	return last.Generation == a.txn.Change.Generation || len(sources) > 0 && slices.Equal(last.Sources, sources)
}

// measure asks the probes and each of their targets, side by side, and calls done once: when all
// that passed lately have answered, or, where nothing is known, all have; and
// what is to be done beside them, if anything, is done.
func (a *Agent) measure(ctx context.Context, names []string, lately map[string]bool, attempt time.Duration, beside func(), done func(found answers)) {
	round := newRound(done)
	if beside != nil {
		round.awaited[""] = true
	}
	for _, name := range names {
		if lately == nil || lately[name] {
			round.awaited[name] = true
		}
	}
	round.finishIfComplete()
	// Nothing answers before the round knows all that it waits for.
	if beside != nil {
		a.Spawn(func() {
			beside()
			round.answer("", false)
		})
	}
	// One lost packet must not take a guard away from a change.
	ask := func(name string, lately bool, groups ...[]netip.Addr) bool {
		return a.asks(ctx, name, attempt, groups...) || lately && a.asks(ctx, name, attempt, groups...)
	}
	for _, name := range names {
		a.Spawn(func() {
			targets := a.targets(ctx, name, attempt)
			if len(targets) == 0 {
				round.answer(name, ask(name, lately[name]))
				return
			}
			round.split(name, targets, lately)
			for _, address := range guard.Addresses(targets) {
				a.Spawn(func() {
					key := targetKey(name, address)
					round.answer(key, ask(name, lately[key], []netip.Addr{address}))
				})
			}
		})
	}
}

// targets of a probe; none where they are not known, so that it is asked as a whole.
func (a *Agent) targets(ctx context.Context, name string, attempt time.Duration) []guard.Target {
	attemptCtx, cancel := deadline.After(ctx, a.Clock, attempt)
	defer cancel()
	targets, err := a.Prober.Targets(attemptCtx, name)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("the targets of a probe cannot be read now", "cause", err.Error())
	}
	return targets
}

// asks a probe once, or groups of its targets, and tells whether it passed.
func (a *Agent) asks(ctx context.Context, name string, attempt time.Duration, groups ...[]netip.Addr) bool {
	attemptCtx, cancel := deadline.After(ctx, a.Clock, attempt)
	defer cancel()
	if len(groups) > 0 {
		return a.Prober.Ask(attemptCtx, name, groups) == nil
	}
	return a.Prober.Probe(attemptCtx, name) == nil
}

package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
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
	a.measure(context.WithoutCancel(ctx), a.Prober.Names(), nil, warmAttempt, nil, func(passed map[string]bool) { a.warm.end(passed) })
}

// measureBaseline asks every default probe, unless the change does without them,
// and waits for those that passed lately, which are asked twice; one that did
// not pass counts if it answers no later than they do.
// Side by side with them it reads the state that the change starts from.
func (a *Agent) measureBaseline(ctx context.Context) {
	taskCtx, number := a.tasks.begin(context.WithoutCancel(ctx))
	lately, attempt := a.warm.known(), guardAttempt
	if lately == nil {
		attempt = warmAttempt
	}
	names := a.Prober.Names()
	if a.machine.Change.DropDefaults {
		names = nil
	}
	guarded := a.guardedBefore(names)
	entry := a.entry
	var before state.State
	var unread error
	read := func() { before, unread = a.Backend.Show(taskCtx) }
	a.measure(taskCtx, names, lately, attempt, read, func(passed map[string]bool) {
		if unread == nil {
			entry.Before = before.JSON()
		}
		var good []string
		for _, name := range slices.Sorted(slices.Values(names)) {
			if passed[name] || slices.Contains(guarded, name) {
				good = append(good, name)
			}
		}
		a.inbox.put(letter{task: number, event: txn.BaselineMeasured{Passed: good}, entry: &entry})
		a.poke()
	})
}

// guardedBefore are the default probes that guarded the last attempt at the same
// change. The committed state is what it was, so they guard this one too (design
// §2, Baseline: never measured anew on a retry): what answers nobody for a moment
// after a rollback would leave the next attempt without a guard.
func (a *Agent) guardedBefore(names []string) []string {
	last := a.record.Last
	if last == nil || last.Result == v1.TransactionCommitted || !a.isRetryOf(*last) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(last.GuardedBy), func(name string) bool { return !slices.Contains(names, name) })
}

// isRetryOf tells whether the change that begins was tried last: in the same generation, or
// from the same policies. Whoever wants those tried again writes a newer generation.
func (a *Agent) isRetryOf(last v1.Transaction) bool {
	sources := v1.PlainSources(a.entry.Sources)
	return last.Generation == a.machine.Change.Generation || len(sources) > 0 && slices.Equal(last.Sources, sources)
}

// measure asks the probes, side by side, and calls done once: when all
// that passed lately have answered, or, where nothing is known, all have; and
// what is to be done beside them, if anything, is done.
func (a *Agent) measure(ctx context.Context, names []string, lately map[string]bool, attempt time.Duration, beside func(), done func(passed map[string]bool)) {
	round := &round{passed: map[string]bool{}, awaited: map[string]bool{}, done: done}
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
	for _, name := range names {
		a.Spawn(func() {
			// One lost packet must not take a guard away from a change.
			round.answer(name, a.asks(ctx, name, attempt) || lately[name] && a.asks(ctx, name, attempt))
		})
	}
}

// asks a probe once, and tells whether it passed.
func (a *Agent) asks(ctx context.Context, name string, attempt time.Duration) bool {
	attemptCtx, cancel := deadline.After(ctx, a.Clock, attempt)
	defer cancel()
	return a.Prober.Probe(attemptCtx, name) == nil
}

// round collects the answers of one measurement.
type round struct {
	mu              sync.Mutex
	passed, awaited map[string]bool
	done            func(passed map[string]bool)
}

func (r *round) answer(name string, passed bool) {
	r.mu.Lock()
	r.passed[name] = passed
	delete(r.awaited, name)
	r.mu.Unlock()
	r.finishIfComplete()
}

func (r *round) finishIfComplete() {
	r.mu.Lock()
	done := r.done
	if len(r.awaited) > 0 || done == nil {
		r.mu.Unlock()
		return
	}
	r.done = nil
	passed := r.passed
	r.passed = map[string]bool{}
	r.mu.Unlock()
	done(passed)
}

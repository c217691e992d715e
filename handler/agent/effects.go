package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// liveReadTimeout bounds the one API call of a transaction.
	liveReadTimeout = 5 * time.Second
	// probeInterval and probeAttempt pace a guard inside the window.
	probeInterval = 500 * time.Millisecond
	probeAttempt  = 2 * time.Second
	// readBackInterval paces the read-back, which costs nobody but the node.
	readBackInterval = 250 * time.Millisecond
	// settleWindow is how long after a rollback the node may take to look as
	// before: NetworkManager returns before addresses are back.
	settleWindow   = 15 * time.Second
	settleInterval = 200 * time.Millisecond
	// keptFor is how long a proven change whose checkpoint is gone must be seen in
	// place: a checkpoint that has just ended may have its rollback under way, and
	// then a device that is to have no address has none for a moment.
	keptFor = 5 * time.Second
	// revertCheckpoint is the life of the checkpoint of a revert.
	revertCheckpoint = 60 * time.Second
)

// arm checks that the change still holds, by the NodeNetworkState read live, and completes
// the journal's entry with the way back.
func (a *Agent) arm(ctx context.Context, change txn.Change, entry journal.Entry) letter {
	if cause := a.prepare(ctx, change, &entry); cause != nil {
		return letter{event: txn.NotArmed{Cause: *cause}}
	}
	return letter{event: txn.Armed{}, entry: &entry}
}

func (a *Agent) prepare(ctx context.Context, change txn.Change, entry *journal.Entry) *txn.Cause {
	if cause := a.stillWanted(ctx, change, entry.Sources); cause != nil {
		return cause
	}
	desired, err := state.Parse(entry.Change)
	if err != nil {
		return &txn.Cause{Message: "arming: " + err.Error()}
	}
	whole, err := state.Parse(entry.Desired)
	if err != nil {
		return &txn.Cause{Message: "arming: " + err.Error()}
	}
	before, err := a.before(ctx, entry)
	if err != nil {
		return &txn.Cause{Message: "arming: reading the node's network: " + err.Error()}
	}
	if cause := a.impossible(desired, whole, before); cause != nil {
		return cause
	}
	if err := a.prepareWayBack(ctx, entry, desired, before); err != nil {
		return &txn.Cause{Message: "arming: " + err.Error()}
	}
	return nil
}

// stillWanted reads the NodeNetworkState live: a cache lags behind a cut link, and
// that of a handler that has just started may show what was long ago. The same state
// may be that of other generations of its policies by now, who are to be told of it. And
// in a later generation it may have been withdrawn and come again: the outcome is that
// one's, since an older one's tells its policies nothing.
func (a *Agent) stillWanted(ctx context.Context, change txn.Change, sources []v1.DesiredSource) *txn.Cause {
	var nns v1.NodeNetworkState
	readCtx, cancel := deadline.After(ctx, a.Clock, liveReadTimeout)
	defer cancel()
	if err := a.Live.Get(readCtx, client.ObjectKey{Name: a.Node}, &nns); err != nil {
		return &txn.Cause{Message: fmt.Sprintf("arming: reading NodeNetworkState %s live: %v", a.Node, err)}
	}
	others := nns.Generation != change.Generation || !slices.Equal(v1.PlainSources(nns.Spec.Sources), v1.PlainSources(sources))
	if !managed(&nns) || hashOf(nns.Spec.DesiredState) != change.Hash || others {
		return &txn.Cause{Message: fmt.Sprintf("the desired state changed (generation %d)", nns.Generation), Superseded: true}
	}
	return nil
}

func (a *Agent) prepareWayBack(ctx context.Context, entry *journal.Entry, desired, before state.State) (err error) {
	if entry.BootID, err = a.Boot.ID(); err != nil {
		return err
	}
	if entry.Instance, err = a.Backend.Instance(ctx); err != nil {
		return err
	}
	// Of a value that is no key at all the model would say so; it keeps nothing of it.
	revealed, masked, err := a.reveal(desired, entry.Secrets)
	if err != nil {
		return fmt.Errorf("reading the secrets of the desired state: %w", err)
	}
	revert, err := a.Backend.Revert(ctx, revealed, before)
	if err != nil {
		return masked(err) // It says what was computed.
	}
	if entry.Foreign, err = a.noteForeign(ctx); err != nil {
		return err
	}
	if entry.Foreign != nil {
		revert = foreign.Without(revert, *entry.Foreign)
	}
	known, err := a.Backend.Profiles(ctx)
	if err != nil {
		return fmt.Errorf("reading the node's profiles: %w", err)
	}
	entry.Version, entry.Profiles = journal.Version, &known
	entry.Before, entry.Revert = before.JSON(), revert.JSON()
	entry.ArmedBoot, err = a.Boot.Elapsed()
	return err
}

// apply brings the change to the node, and sends the name of its checkpoint as soon as there
// is one.
func (a *Agent) apply(ctx context.Context, entry journal.Entry, life time.Duration, send func(letter)) letter {
	failed := func(message string, refused bool) letter {
		return letter{event: txn.ApplyFailed{Message: message, Refused: refused}}
	}
	desired, err := state.Parse(entry.Change)
	if err != nil {
		return failed("applying: "+err.Error(), true)
	}
	revealed, masked, err := a.reveal(desired, entry.Secrets)
	if err != nil {
		return failed("applying: "+err.Error(), true)
	}
	ready, err := a.makeReady(ctx, entry, desired)
	if err != nil {
		return failed(err.Error(), a.makeUnready(ctx, entry, ready))
	}
	armed := false
	checkpoint, held, err := a.Backend.Apply(ctx, revealed, life, func(made backend.Checkpoint) {
		armed = true
		// NetworkManager may have restarted since the journal was opened: the checkpoint
		// is of the one that runs now.
		if instance, err := a.Backend.Instance(ctx); err == nil {
			entry.Instance = instance
		}
		named := entry
		send(letter{event: txn.CheckpointMade{Checkpoint: string(made)}, entry: &named})
	})
	if err != nil {
		refused := !armed || errors.Is(err, backend.ErrInvalid) || errors.Is(err, backend.ErrBusy)
		return failed(masked(err).Error(), refused && a.makeUnready(ctx, entry, ready))
	}
	there, err := a.Backend.Profiles(ctx)
	if err != nil {
		return failed("reading what was applied: "+err.Error(), false)
	}
	if entry.Trial, err = trialOf(entry, there, held); err != nil {
		return failed(err.Error(), false)
	}
	return letter{event: txn.Applied{Checkpoint: string(checkpoint), At: a.Clock.Now()}, entry: &entry}
}

// startProbes runs every guard until it passes or its time ends.
func (a *Agent) startProbes(ctx context.Context, names []string) {
	entry, trial := a.txn.entry, a.txn.State
	taskCtx, number := a.tasks.begin(context.WithoutCancel(ctx))
	for _, name := range names {
		a.Spawn(func() {
			window := trial.Deadline(name).Sub(a.Clock.Now())
			windowCtx, cancel := deadline.After(taskCtx, a.Clock, window)
			defer cancel()
			var err error
			passed := letter{task: number}
			if name == txn.ReadBack {
				back := a.readBackOf(entry)
				err = probe.Until(windowCtx, a.Clock, back, name, readBackInterval, window)
				passed.shown, passed.toCome, passed.notVerified = back.shown, &back.toCome, back.notVerified
			} else if name == txn.Foreign {
				err = a.keepForeign(windowCtx, entry)
			} else {
				interval, attempt := pace(trial.Change, name)
				err = probe.Until(windowCtx, a.Clock, a.guardOf(entry, name), name, interval, attempt)
			}
			if err != nil {
				a.send(letter{task: number, event: txn.ProbeLost{Name: name, Message: err.Error(), At: a.Clock.Now()}})
				return
			}
			passed.event = txn.ProbePassed{Name: name, At: a.Clock.Now()}
			a.send(passed)
		})
	}
}

// ours finds the checkpoint of an entry. ErrGone: it is not alive, whatever another
// NetworkManager has made since, which counts its checkpoints anew.
func (a *Agent) ours(ctx context.Context, entry journal.Entry) (backend.Checkpoint, error) {
	pending, err := a.Backend.Pending(ctx)
	if err != nil {
		return "", err
	}
	instance, err := a.Backend.Instance(ctx)
	if err != nil {
		return "", err
	}
	boot, err := a.Boot.ID()
	if err != nil {
		return "", err
	}
	now, err := a.Boot.Elapsed()
	if err != nil {
		return "", err
	}
	for _, p := range pending {
		if instance == entry.Instance && boot == entry.BootID && isOurs(p, entry, now) {
			return p.Checkpoint, nil
		}
	}
	return "", backend.ErrGone
}

// isOurs tells whether a checkpoint is the one that an entry names. Where it names
// none, the process was killed before it could write the name down: then it is the
// one that was made after the journal was opened and lives as long as ours can.
func isOurs(p backend.Pending, entry journal.Entry, now time.Duration) bool {
	if name := entry.Transaction.Checkpoint; name != "" {
		return string(p.Checkpoint) == name
	}
	return p.CreatedBoot >= entry.ArmedBoot && livesLike(p, entry.Transaction.Change.RollbackAfter(), now)
}

// livesLike tells whether a checkpoint has the life of one of ours. NetworkManager
// counts that from when the checkpoint was made, and nmstate renews it during an
// apply: it grows by the checkpoint's age at the last renewal, and by no more.
func livesLike(p backend.Pending, ours, now time.Duration) bool {
	const rounding = 2 * time.Second // The life and the age are rounded up to whole seconds.
	return ours <= p.RollbackAfter && p.RollbackAfter <= ours+(now-p.CreatedBoot)+rounding
}

// lost tells whether the entry's checkpoint died with its NetworkManager or
// with the boot.
func (a *Agent) lost(ctx context.Context, entry journal.Entry) bool {
	boot, err := a.Boot.ID()
	if err != nil || boot != entry.BootID {
		return true
	}
	instance, err := a.Backend.Instance(ctx)
	return err == nil && instance != entry.Instance
}

// hindrance of a way back that failed. The node is cut off when what guarded the
// change says so: the API server, and the gateway with it. Where that answers, the
// API server is out of reach for a reason that no way back can mend.
func (a *Agent) hindrance(ctx context.Context, entry journal.Entry, err error) txn.Hindrance {
	at, guards := a.Clock.Now(), entry.Transaction.Guards // The wait for the next try begins before these questions.
	lost := func(guard string) bool { return slices.Contains(guards, guard) && !a.asks(ctx, guard, guardAttempt) }
	cut := lost(probe.APIServer) && (!slices.Contains(guards, probe.DefaultGateway) || lost(probe.DefaultGateway))
	return txn.Hindrance{Unavailable: errors.Is(err, backend.ErrUnavailable), Cut: cut, At: at}
}

// lastingHindrance is that of the last resort. nmstate takes back what it could not
// do, and NetworkManager returns before addresses are back: what is out of reach for
// that long only is no reason to go on for ever.
func (a *Agent) lastingHindrance(ctx context.Context, entry journal.Entry, err error) txn.Hindrance {
	window, stop := deadline.After(ctx, a.Clock, settleWindow)
	defer stop()
	first := a.hindrance(ctx, entry, err)
	for last := first; last.Cut; last = a.hindrance(ctx, entry, err) {
		if window.Err() != nil || !a.Clock.Wait(ctx, nil, settleInterval) {
			return first
		}
	}
	first.Cut = false
	return first
}

// settle waits until the node looks as before the change, or long enough.
func (a *Agent) settle(ctx context.Context, entry journal.Entry) txn.Event {
	before, err := state.Parse(entry.Before)
	if err != nil {
		return txn.Settled{Differences: []string{err.Error()}, Missing: []string{err.Error()}}
	}
	desired, err := state.Parse(entry.Change)
	if err != nil {
		return txn.Settled{Differences: []string{err.Error()}, Missing: []string{err.Error()}}
	}
	back := a.foreignBack(entry)
	// Timers, so that a clock that is set meanwhile keeps nobody cut off for longer.
	window, stop := deadline.After(ctx, a.Clock, settleWindow)
	defer stop()
	briefly, end := deadline.After(ctx, a.Clock, foreignBackWindow)
	defer end()
	var inPlaceSince time.Time
	for {
		settled := a.compare(ctx, entry, before, desired)
		inPlace := entry.Transaction.Proven && len(settled.Missing) == 0
		switch {
		case inPlace && inPlaceSince.IsZero():
			inPlaceSince = a.Clock.Now()
		case inPlace:
		case entry.Transaction.Proven && len(settled.Differences) > 0:
			// The change may be in place, and not be seen for a moment. What the node
			// had beside it before would cut it off now.
			inPlaceSince = time.Time{}
		default:
			inPlaceSince = time.Time{}
			settled.Foreign = back.round(ctx)
		}
		kept := inPlace && !a.Clock.Now().Before(inPlaceSince.Add(keptFor))
		done := kept || len(settled.Differences) == 0 && len(settled.Foreign) == 0 && back.isQuiet()
		if done {
			settled.Differences = append(settled.Differences, a.flush(ctx, entry)...)
			done = len(settled.Differences) == 0 || kept
		}
		most := window
		if len(settled.Differences) == 0 && len(settled.Foreign) > 0 {
			most = briefly // All the rest is as before: nothing else comes that a lost thing may wait for.
		}
		if done || !inPlace && most.Err() != nil || ctx.Err() != nil {
			if done {
				return settled
			}
			return a.notAsBefore(ctx, entry, settled)
		}
		a.Clock.Wait(ctx, nil, settleInterval)
	}
}

// notAsBefore is what is told of a node that did not come to be as before in time.
func (a *Agent) notAsBefore(ctx context.Context, entry journal.Entry, settled txn.Settled) txn.Settled {
	if len(settled.Differences) == 0 { // The files are, whatever it still waits for.
		settled.Differences = a.flush(ctx, entry)
	}
	if entry.Transaction.Reverted {
		settled.Hindrance = a.hindrance(ctx, entry, nil)
	}
	logf.FromContext(ctx).Info("the node is not as before", "differences", settled.Differences, "foreign", settled.Foreign)
	return settled
}

func (a *Agent) compare(ctx context.Context, entry journal.Entry, before, desired state.State) txn.Settled {
	now, err := a.Backend.Show(ctx)
	if err != nil {
		message := []string{"reading the node's network: " + err.Error()}
		return txn.Settled{Differences: message, Missing: message}
	}
	diff := state.DiffAfterRollback
	if boot, err := a.Boot.ID(); err == nil && boot != entry.BootID {
		diff = state.DiffAfterBoot
	}
	settled := txn.Settled{Differences: lines(diff(before, now)), Missing: lines(state.Missing(desired, now))}
	if len(settled.Missing)+len(settled.Differences) == 0 {
		settled.Missing = []string{provesNothing}
	}
	settled.Differences = append(settled.Differences, a.profileDifferences(ctx, entry)...)
	return settled
}

// provesNothing is missing where the node is as before the change and has all that
// the change wants as well, as far as can be compared (the end of a veth that is to
// go never is). That it was committed does not show, so it is taken for not
// committed, and tried again.
const provesNothing = "the node is as before the change"

func lines(differences []state.Difference) []string {
	var found []string
	for _, d := range differences {
		found = append(found, d.String())
	}
	return idle.Lines(found)
}

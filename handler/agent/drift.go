package agent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	driftReport = "Report"
	// maxDrift is how many leaves the status lists.
	maxDrift = 100
	// Actions of a v1.Drift.
	actionCorrecting = "Correcting"
	actionDamped     = "Damped"
	actionReported   = "Reported"
)

// drift is what is known of the node's differing from what is committed.
//
//	differs ──lasts for Quiet──► drift ──due──► Correcting ──► put right: in sync
//	   │                           │  ▲              │
//	   └─ is right again: nothing  │  └── Damped ◄───┴── failed, or drifts again
//	                               └─► Reported, where the policy says so
type drift struct {
	// seen is since when each leaf has differed, in every read.
	seen map[string]time.Time
	// found is what counts as drift, by the last read.
	found []drifted
	// fresh: that read is of this turn.
	fresh bool
	// again is when to read again: something differs that is no drift yet, or a
	// correction gets due. Zero: when something happens.
	again time.Time
	// unjudged: what was read last was read while the node was to be something else.
	unjudged bool
	// hold keeps a turn with a stale cache from correcting what is not wanted.
	hold time.Time
}

// drifted is a leaf that drifted.
type drifted struct {
	state.Difference
	since   time.Time
	policy  string
	correct bool
	// unguarded: its policy goes without the default probes.
	unguarded bool
	due       time.Time
}

func leafOf(path, want, got string) string {
	want, got = inShort(want), inShort(got) // As the status has them.
	if want != "" {
		got = "" // Whatever is there instead: it is the same leaf.
	}
	return path + "\n" + want + "\n" + got
}

// judge compares what was read with what is committed. A node that is being
// brought somewhere else is not judged.
func (a *Agent) judge(nns *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus, read reading) {
	a.drift.unjudged = a.record.Committed == nil || a.machine.Running() || a.isLeft() || !a.atCommitted(nns)
	if a.drift.unjudged {
		return
	}
	desired, err := state.Parse(a.record.Committed.Desired)
	if err != nil {
		return // Said by enforce.
	}
	if !a.Commands {
		desired = desired.WithoutScripts() // Of a time when they were allowed. Nobody looks at them now.
	}
	now, damping := a.Clock.Now(), a.Damping.orDefault()
	told := map[string]time.Time{}
	for _, d := range status.Drift {
		told[leafOf(d.Path, d.Expected, d.Found)] = earlier(d.Since.Time, now)
	}
	a.notAhead(now)
	seen := map[string]time.Time{}
	a.drift.found, a.drift.again = nil, time.Time{}
	for _, d := range lacks(desired, read) {
		leaf := leafOf(d.Path.String(), d.Want, d.Got)
		since, known := a.drift.seen[leaf]
		if !known {
			since = now
		}
		seen[leaf] = since
		if before, is := told[leaf]; is {
			a.found(d, before)
		} else if ripe := later(since.Add(damping.Quiet), a.inbox.calmAt()); now.Before(ripe) {
			a.drift.lookAt(ripe)
		} else {
			a.found(d, since)
		}
	}
	a.drift.seen, a.drift.fresh = seen, true
	a.tell(nns, status, len(seen) > 0)
}

// lacks is what of the desired state the node has not: by its state, and by where
// NetworkManager has its devices. A cable that is out is no drift: nobody has changed the
// node, and NetworkManager brings back what it took away when the cable is in again.
func lacks(desired state.State, read reading) []state.Difference {
	unplugged := profiles.Unplugged(desired, read.state, read.devices)
	inactive := profiles.Inactive(desired, read.state, read.devices)
	missing := slices.DeleteFunc(state.Missing(desired, read.state), func(d state.Difference) bool {
		return unplugged[d.Path.Interface] || slices.ContainsFunc(inactive, func(i state.Difference) bool { return i.Path == d.Path })
	})
	return append(inactive, missing...)
}

func (a *Agent) atCommitted(nns *v1.NodeNetworkState) bool {
	return a.record.Committed.Hash == a.hashOf(nns.Spec.DesiredState)
}

// found adds a leaf that drifted, with what its owner wants done about it.
func (a *Agent) found(d state.Difference, since time.Time) {
	one := drifted{Difference: d, since: since, correct: true}
	one.isOwned(a.record.Committed.Sources)
	if one.correct {
		past := a.record.Corrections[d.Path.Subject().String()]
		one.due = later(a.Damping.orDefault().due(past, since, a.Backoff, a.Node), a.inbox.calmAt())
		if a.Clock.Now().Before(one.due) {
			a.drift.lookAt(one.due)
		}
	}
	a.drift.found = append(a.drift.found, one)
}

// isOwned finds whose it is.
func (o *drifted) isOwned(sources []v1.DesiredSource) {
	o.ownedBy(sources, o.Difference)
	if o.policy == "" && o.Path.Leaf == "state" {
		// Nobody has said "up": who says anything else of the interface wants that.
		o.ownedBy(sources, state.Difference{Path: o.Path.Subject()})
	}
}

// ownedBy notes the owner of a difference: one that corrects comes before one that reports.
func (o *drifted) ownedBy(sources []v1.DesiredSource, d state.Difference) {
	for _, source := range sources {
		if !state.Owns(state.ParsePaths(source.Paths), d) {
			continue
		}
		corrects := source.Drift != driftReport
		if o.policy == "" || corrects && !o.correct {
			o.policy, o.correct, o.unguarded = source.Policy, corrects, source.DefaultProbes == v1.DefaultProbesDrop
		}
	}
}

func (d *drift) lookAt(t time.Time) {
	if d.again.IsZero() || t.Before(d.again) {
		d.again = t
	}
}

// notAhead has no correction end in the future: an earlier process's clock was
// ahead, and what waits for its time would wait until this one has caught up.
func (a *Agent) notAhead(now time.Time) {
	for subject, past := range a.record.Corrections {
		past.Ended = earlier(past.Ended, now)
		a.record.Corrections[subject] = past
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// tell puts what was found into the status. What may be nothing is not told,
// neither as drift nor as its absence.
func (a *Agent) tell(nns *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus, differs bool) {
	now := a.Clock.Now()
	status.Drift = nil
	var lines, failures []string
	for _, one := range a.drift.found {
		action := actionReported
		if one.correct {
			action = actionCorrecting
			if now.Before(one.due) {
				action = actionDamped
			}
		}
		if len(status.Drift) < maxDrift {
			status.Drift = append(status.Drift, v1.Drift{
				Path: one.Path.String(), Expected: inShort(one.Want), Found: inShort(one.Got), Policy: one.policy, Since: *idle.InSeconds(one.since), Action: action,
			})
		}
		lines = append(lines, one.String())
		past := a.record.Corrections[one.Path.Subject().String()]
		if failure := "correcting it failed: " + past.Message; past.Failures > 0 && !slices.Contains(failures, failure) {
			failures = append(failures, failure)
		}
	}
	a.metrics.leaves(a.Node, len(a.drift.found))
	switch {
	case len(a.drift.found) > 0:
		const most = 5
		if more := len(lines) - most; more > 0 {
			lines = append(lines[:most], fmt.Sprintf("and %d more", more))
		}
		a.setCondition(status, v1.StateDrifted, metav1.ConditionTrue, v1.ReasonDriftFound, strings.Join(append(lines, failures...), "; "))
	case !differs || a.wasTold(status):
		a.setCondition(status, v1.StateDrifted, metav1.ConditionFalse, v1.ReasonInSync, "")
	}
}

// wasTold: whether the node drifted was told already.
func (a *Agent) wasTold(status *v1.NodeNetworkStateStatus) bool {
	return v1.FindCondition(status.Conditions, v1.StateDrifted) != nil
}

// lookAgain asks for another read when its time has come, and when the node is to
// be what it was again: that it drifted meanwhile no event tells a second time.
func (a *Agent) lookAgain(nns *v1.NodeNetworkState) {
	if a.drift.unjudged && a.record.Committed != nil && a.atCommitted(nns) {
		a.drift.unjudged = false
		a.inbox.setDirty(true)
	}
	if !a.drift.again.IsZero() && !a.Clock.Now().Before(a.drift.again) {
		a.drift.again = time.Time{}
		a.inbox.setDirty(true)
	}
}

// untilLook is how long until lookAgain has something to do; zero for never.
func (a *Agent) untilLook() time.Duration {
	if a.drift.again.IsZero() {
		return 0
	}
	return max(a.drift.again.Sub(a.Clock.Now()), time.Millisecond)
}

// dueAt are the subjects that are to be put right now, by one correction. Those whose
// policy goes without the default probes come after the others: what these guard is
// not put right unguarded.
func (d *drift) dueAt(now time.Time) (due map[string]bool, unguarded bool) {
	of := map[bool]map[string]bool{false: {}, true: {}}
	for _, one := range d.found {
		if one.correct && !now.Before(one.due) {
			of[one.unguarded][one.Path.Subject().String()] = true
		}
	}
	if unguarded = len(of[false]) == 0; !unguarded && len(of[true]) > 0 {
		d.lookAt(now)
	}
	return of[unguarded], unguarded
}

// correct begins a transaction that puts right what drifted and is due. It
// acts on what was read in this turn only, and told.
func (a *Agent) correct(ctx context.Context, nns *v1.NodeNetworkState) error {
	fresh, now := a.drift.fresh, a.Clock.Now()
	a.drift.fresh = false
	if !fresh || a.record.Committed == nil || !a.atCommitted(nns) {
		return nil
	}
	due, unguarded := a.drift.dueAt(now)
	if len(due) == 0 {
		return nil
	}
	if len(a.record.Committed.Sources) == 0 {
		unguarded = nns.Spec.DefaultProbes == v1.DefaultProbesDrop
	}
	if now.Before(a.drift.hold) {
		a.drift.lookAt(a.drift.hold)
		return nil
	}
	if found := a.obstacle(ctx); found != nil {
		a.drift.lookAt(now.Add(found.look))
		return nil
	}
	var right, leave []state.Difference
	for _, one := range a.drift.found {
		if one.correct && due[one.Path.Subject().String()] {
			right = append(right, one.Difference)
		} else if !one.correct {
			leave = append(leave, one.Difference)
		}
	}
	committed := a.record.Committed
	desired, err := state.Parse(committed.Desired)
	if err != nil {
		return fmt.Errorf("reading the committed state: %w", err)
	}
	part := state.Correction(desired, right, leave)
	if part.IsEmpty() {
		part = desired // A route of another name, say: what drifted cannot be told apart.
	}
	a.entry = journal.Entry{
		Since: now, Sources: committed.Sources, Desired: committed.Desired, Change: part.JSON(), Correction: slices.Sorted(maps.Keys(due)), Secrets: nns.Spec.Secrets,
	}
	logf.FromContext(ctx).Info("correcting drift", "of", a.entry.Correction)
	a.step(ctx, txn.Wanted{Change: txn.Change{
		Generation: nns.Generation, Hash: committed.Hash, Window: a.window(nns), DropDefaults: unguarded,
	}})
	return nil
}

// corrected records how a correction ended; what the policies wanted, and how
// that went, is not touched.
func (a *Agent) corrected(outcome txn.Outcome) {
	now := a.Clock.Now()
	a.metrics.corrected(a.Node, outcome.Result)
	if outcome.Result == v1.TransactionSuperseded {
		a.drift.hold = now.Add(idle.SupersededPause)
		return
	}
	message := ""
	if outcome.Result != v1.TransactionCommitted {
		message = shortened(outcome.Message)
	}
	damping := a.Damping.orDefault()
	next := map[string]journal.Correction{}
	for subject, past := range a.record.Corrections {
		// A loss is worth remembering for as long as it may keep one waiting.
		if now.Sub(past.Ended) < max(damping.Forget, 25*time.Hour) {
			next[subject] = past
		}
	}
	for _, subject := range a.entry.Correction {
		next[subject] = damping.counted(next[subject], a.firstFound(subject, now), now, message, outcome.Final)
	}
	a.record.Corrections = next
}

// firstFound is when something of the subject was found drifted.
func (a *Agent) firstFound(subject string, fallback time.Time) time.Time {
	first := fallback
	for _, one := range a.drift.found {
		if one.Path.Subject().String() == subject && one.since.Before(first) {
			first = one.since
		}
	}
	return first
}

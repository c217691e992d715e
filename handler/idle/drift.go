package idle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
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

// Drift is what is known of the node's differing from what is committed.
//
//	differs ──lasts for Quiet──► drift ──due──► Correcting ──► put right: in sync
//	   │                           │  ▲              │
//	   └─ is right again: nothing  │  └── Damped ◄───┴── failed, or drifts again
//	                               └─► Reported, where the policy says so
type Drift struct {
	// Found is what counts as drift, by the last read.
	Found []Drifted
	// seen is since when each leaf has differed, in every read.
	seen map[string]time.Time
	// again is when to read again: something differs that is no drift yet, or a
	// correction gets due. Zero: when something happens.
	again time.Time
	// hold keeps a turn with a stale cache from correcting what is not wanted.
	hold time.Time
}

// Drifted is a leaf that drifted.
type Drifted struct {
	state.Difference
	since time.Time
	// policy is its owner; correct tells that it is to be put right.
	policy  string
	correct bool
	// unguarded: its policy goes without the default probes.
	unguarded bool
	due       time.Time
}

// Comparison is a read of the node beside what it has committed.
type Comparison struct {
	// Missing is what the node lacks.
	Missing []state.Difference
	// Told is the drift that the NodeNetworkState tells.
	Told []v1.Drift
	// Sources of what is committed.
	Sources     []v1.DesiredSource
	Corrections Corrections
	// Calm is when differences count.
	Now, Calm time.Time
	Damping   Damping
	// Node and Backoff say how long a correction that failed waits.
	Node    string
	Backoff Backoff
}

// After is what is known once the node was read once more.
func (d Drift) After(c Comparison) Drift {
	next := Drift{seen: map[string]time.Time{}, hold: d.hold}
	if len(c.Missing) == 0 {
		return next
	}
	damping, told, owners := c.Damping.OrDefault(), map[string]time.Time{}, ownersOf(c.Sources)
	for _, one := range c.Told {
		told[leafOf(one.Path, one.Expected, one.Found)] = earlier(one.Since.Time, c.Now)
	}
	for _, missing := range c.Missing {
		leaf := leafOf(missing.Path.String(), missing.Want, missing.Got)
		since, known := d.seen[leaf]
		if !known {
			since = c.Now
		}
		next.seen[leaf] = since
		before, isTold := told[leaf]
		ripe := later(since.Add(damping.Quiet), c.Calm)
		switch {
		case isTold:
			next.found(missing, before, c, owners)
		case c.Now.Before(ripe):
			next.LookAt(ripe)
		default:
			next.found(missing, since, c, owners)
		}
	}
	return next
}

// Differs tells whether anything differs, be it drift yet or not.
func (d Drift) Differs() bool { return len(d.seen) > 0 }

// leafOf names a leaf as the status has it.
func leafOf(path, want, got string) string {
	want, got = Value(want), Value(got)
	if want != "" {
		got = "" // Whatever is there instead: it is the same leaf.
	}
	return path + "\n" + want + "\n" + got
}

// found adds a leaf that drifted, with what its owner wants done about it.
func (d *Drift) found(missing state.Difference, since time.Time, c Comparison, owners []owner) {
	one := Drifted{Difference: missing, since: since, correct: true}
	one.isOwned(owners)
	if one.correct {
		past := c.Corrections[one.subject()]
		one.due = later(c.Damping.OrDefault().due(past, since, c.Backoff, c.Node), c.Calm)
		if c.Now.Before(one.due) {
			d.LookAt(one.due)
		}
	}
	d.Found = append(d.Found, one)
}

// subject is what is put right together.
func (o Drifted) subject() string { return o.Path.Subject().String() }

// owner is a policy that may own what drifted, with what it has set.
type owner struct {
	source *v1.DesiredSource
	paths  []state.Path
}

// ownersOf are read once for all that differs.
func ownersOf(sources []v1.DesiredSource) []owner {
	owners := make([]owner, len(sources))
	for i := range sources {
		owners[i] = owner{&sources[i], state.ParsePaths(sources[i].Paths)}
	}
	return owners
}

// isOwned finds whose it is.
func (o *Drifted) isOwned(owners []owner) {
	o.ownedBy(owners, o.Difference)
	if o.policy == "" && o.Path.Leaf == "state" {
		// Nobody has said "up": who says anything else of the interface wants that.
		o.ownedBy(owners, state.Difference{Path: o.Path.Subject()})
	}
}

// ownedBy notes the owner of a difference: one that corrects comes before one that reports.
func (o *Drifted) ownedBy(owners []owner, d state.Difference) {
	for _, owner := range owners {
		if !state.Owns(owner.paths, d) {
			continue
		}
		corrects := owner.source.Drift != driftReport
		if o.policy == "" || corrects && !o.correct {
			o.policy, o.correct, o.unguarded = owner.source.Policy, corrects, owner.source.DefaultProbes == v1.DefaultProbesDrop
		}
	}
}

// action is what is done about it.
func (o Drifted) action(now time.Time) string {
	switch {
	case !o.correct:
		return actionReported
	case now.Before(o.due):
		return actionDamped
	}
	return actionCorrecting
}

// Rows are what the status tells of it.
func (d Drift) Rows(now time.Time) []v1.Drift {
	var rows []v1.Drift
	for _, one := range d.Found[:min(len(d.Found), maxDrift)] {
		rows = append(rows, v1.Drift{
			Path: one.Path.String(), Expected: Value(one.Want), Found: Value(one.Got),
			Policy: one.policy, Since: *InSeconds(one.since), Action: one.action(now),
		})
	}
	return rows
}

// Message says it in a line, and why corrections of it failed.
func (d Drift) Message(past Corrections) string {
	const most = 5
	var lines, failures []string
	for _, one := range d.Found {
		lines = append(lines, one.String())
		failed := past[one.subject()]
		if failure := "correcting it failed: " + failed.Message; failed.Failures > 0 && !slices.Contains(failures, failure) {
			failures = append(failures, failure)
		}
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(append(lines, failures...), "; ")
}

// LookAt asks for another read, at that time at the latest.
func (d *Drift) LookAt(at time.Time) {
	if d.again.IsZero() || at.Before(d.again) {
		d.again = at
	}
}

// LooksAgain tells whether it is time for another read, and asks for it once.
func (d *Drift) LooksAgain(now time.Time) bool {
	if d.again.IsZero() || now.Before(d.again) {
		return false
	}
	d.again = time.Time{}
	return true
}

// Wait is how long until LooksAgain; zero for never.
func (d Drift) Wait(now time.Time) time.Duration {
	if d.again.IsZero() {
		return 0
	}
	return max(d.again.Sub(now), time.Millisecond)
}

// Hold keeps it from being put right for a moment: what was wanted is not wanted any
// more, which the cache may not know yet.
func (d *Drift) Hold(now time.Time) { d.hold = now.Add(SupersededPause) }

// Due is what is to be put right now, by one correction.
type Due struct {
	// Subjects are what it is about, in order.
	Subjects []string
	// Right are the leaves to put right, Leave those that stay as they are.
	Right, Leave []state.Difference
	// Unguarded: without the default probes.
	Unguarded bool
}

// Due is what is to be put right now; nothing where it has no subjects. What goes
// without the default probes comes after the rest: what these guard is not put right
// unguarded.
func (d *Drift) Due(now time.Time) Due {
	guarded, unguarded := d.dueOf(now, false), d.dueOf(now, true)
	due, subjects := Due{}, guarded
	switch {
	case len(guarded) == 0:
		due.Unguarded, subjects = true, unguarded
	case len(unguarded) > 0:
		d.LookAt(now)
	}
	if len(subjects) > 0 && now.Before(d.hold) {
		d.LookAt(d.hold)
		return Due{}
	}
	for _, one := range d.Found {
		switch {
		case !one.correct:
			due.Leave = append(due.Leave, one.Difference)
		case subjects[one.subject()]:
			due.Right = append(due.Right, one.Difference)
		}
	}
	due.Subjects = slices.Sorted(maps.Keys(subjects))
	return due
}

func (d Drift) dueOf(now time.Time, unguarded bool) map[string]bool {
	subjects := map[string]bool{}
	for _, one := range d.Found {
		if one.correct && one.unguarded == unguarded && !now.Before(one.due) {
			subjects[one.subject()] = true
		}
	}
	return subjects
}

// since is when something of the subject was found drifted.
func (d Drift) since(subject string, fallback time.Time) time.Time {
	first := fallback
	for _, one := range d.Found {
		if one.subject() == subject {
			first = earlier(first, one.since)
		}
	}
	return first
}

package txn

import (
	"slices"
	"time"
)

const (
	// tellAfter is how long a transaction runs before others are told of it: most
	// have ended by then, and cost no request.
	tellAfter = 2 * time.Second
	// tellPauseFirst and tellPauseMost are the least time between two attempts to
	// tell: it doubles, so that an hour costs about sixty requests, whatever
	// happens in it.
	tellPauseFirst = 2 * time.Second
	tellPauseMost  = time.Minute
	// tellLasting is how long what others know something else of has to last
	// before they are told: a commit is over by then, and tells its outcome.
	tellLasting = time.Second
)

// Progress is what others are told of a running transaction: its phase, and the
// guards that have not passed yet; before the change begins, those that might guard it.
type Progress struct {
	Phase   Phase
	Waiting []string
	// ConfirmUntil is the end of a person's time, while only they are waited for.
	ConfirmUntil time.Time
}

// Progress of the transaction. Where none runs its phase is Idle.
func (s State) Progress() Progress {
	if !s.Running() {
		return Progress{Phase: Idle}
	}
	p := Progress{Phase: s.Phase}
	if s.Phase == Probing || s.Phase == Baseline {
		p.Waiting = slices.Sorted(slices.Values(s.Waiting))
	}
	if s.AwaitsConfirmation() {
		p.ConfirmUntil = s.Until
	}
	return p
}

// Equal tells whether both say the same.
func (p Progress) Equal(q Progress) bool {
	return p.Phase == q.Phase && slices.Equal(p.Waiting, q.Waiting) && p.ConfirmUntil.Equal(q.ConfirmUntil)
}

// asks a person for something.
func (p Progress) asks() bool { return !p.ConfirmUntil.IsZero() }

// Telling is what others know of the running transaction, and when it was tried
// to tell them. Nothing of the transaction depends on it.
type Telling struct {
	// Begun is when this process began to run the transaction.
	Begun time.Time
	// Now is what there is to tell, since Since.
	Now   Progress
	Since time.Time
	// Known is what others were told last; zero while they know nothing.
	Known Progress
	// Tried is what it was tried to tell last, At when, and Pause the least time
	// until the next attempt.
	Tried Progress
	At    time.Time
	Pause time.Duration
}

// NewTelling is about a transaction that begins, of which nobody knows.
func NewTelling(now time.Time) Telling { return Telling{Begun: now} }

// See notes what there is to tell.
func (t Telling) See(p Progress, now time.Time) Telling {
	if !p.Equal(t.Now) {
		t.Now, t.Since = p, now
	}
	return t
}

// Due tells whether others are to be told, and how long from now. A person who
// is asked for something is asked at once.
func (t Telling) Due(now time.Time) (wait time.Duration, due bool) {
	switch {
	case t.Now.Phase == Idle || t.Now.Equal(t.Known):
		return 0, false
	case t.Now.asks() && !t.Now.Equal(t.Tried):
		return 0, true
	}
	at := t.Begun.Add(tellAfter)
	if t.IsTried() {
		at = latest(at, t.At.Add(t.Pause), t.Since.Add(tellLasting))
	}
	return max(at.Sub(now), 0), true
}

// Try notes an attempt to tell.
func (t Telling) Try(now time.Time) Telling {
	t.Pause = min(max(2*t.Pause, tellPauseFirst), tellPauseMost)
	if t.Now.asks() && !t.Now.Equal(t.Tried) {
		t.Pause = tellPauseFirst // What could not be told before delays no question.
	}
	t.Tried, t.At = t.Now, now
	return t
}

// Told notes that others know what was tried to tell last.
func (t Telling) Told() Telling {
	t.Known = t.Tried
	return t
}

// IsTried tells whether others may know of the transaction: an attempt of which
// no answer came may have reached them.
func (t Telling) IsTried() bool { return !t.At.IsZero() }

func latest(times ...time.Time) time.Time {
	return slices.MaxFunc(times, time.Time.Compare)
}

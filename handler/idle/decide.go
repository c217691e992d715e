package idle

import (
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// CloseRetry is how soon a journal that could not be closed is tried again.
const CloseRetry = 5 * time.Second

// Object is what there is of the node's NodeNetworkState.
type Object int

// There is none; it says that nobody manages the node; it says what the node is to be.
const (
	Missing Object = iota
	SetAside
	Managed
)

// Stage is how far a turn has come.
type Stage int

// The stages in their order: nothing was done; the outcome of the last change was told;
// what is wanted was begun, or is not to begin now; the node was reported; its drift was
// looked at.
const (
	Fresh Stage = iota
	Told
	Enforced
	Reported
	Corrected
)

// Situation is what a turn knows.
type Situation struct {
	Object Object
	// Closed: the journal has how the last transaction ended.
	Closed bool
	// Untold: nobody was told of that yet.
	Untold bool
	// Ending: the process ends, and begins nothing.
	Ending bool
	Wanted Wanted
	Past   Past
	Stage  Stage
	// Wait is how long until something is due by itself; zero for never.
	Wait time.Duration
	Now  time.Time
	// Node and Backoff say how long a failed change waits.
	Node    string
	Backoff Backoff
}

// Wanted is what the NodeNetworkState says that the node is to be.
type Wanted struct {
	// Change has the generation, the hash and the guards.
	Change txn.Change
	// Nothing: there is no desired state.
	Nothing bool
	Sources []v1.DesiredSource
	// Policy is the one that the spec names as changed.
	Policy string
}

// Past is what the journal knows of earlier changes.
type Past struct {
	// Committed is nil as long as nothing was.
	Committed *Committed
	// Last is how the last change ended.
	Last   *v1.Transaction
	Failed *Failed
}

// Committed is what the node has committed.
type Committed struct {
	Hash    string
	Sources []v1.DesiredSource
}

// Action is what a turn does next.
type Action interface{ action() }

type (
	// Create the NodeNetworkState. The turn is over.
	Create struct{}
	// TellSetAside tells that nobody manages the node. The turn is over, and the next
	// one comes after a time, if that is not zero.
	TellSetAside struct{ After time.Duration }
	// TellOutcome tells how the last change ended.
	TellOutcome struct{}
	// Forget the change that failed: something else is wanted.
	Forget struct{}
	// Repeat stores that a newer generation ended as the change that failed did.
	Repeat struct{ Last v1.Transaction }
	// Adopt stores that what is committed comes from other generations of the policies.
	Adopt struct{ Last v1.Transaction }
	// Pause begins nothing. Last is how the last change ended, with a nearer time of
	// the next attempt; nil where that stays as it was.
	Pause struct {
		For  time.Duration
		Last *v1.Transaction
	}
	// Begin what is wanted.
	Begin struct{}
	// Report the node.
	Report struct{}
	// Correct what drifted.
	Correct struct{}
	// Rest until something happens, or for a time, if that is not zero.
	Rest struct{ For time.Duration }
)

func (Create) action()       {}
func (TellSetAside) action() {}
func (TellOutcome) action()  {}
func (Forget) action()       {}
func (Repeat) action()       {}
func (Adopt) action()        {}
func (Pause) action()        {}
func (Begin) action()        {}
func (Report) action()       {}
func (Correct) action()      {}
func (Rest) action()         {}

// Decide returns the next action of a turn, and the stage that the turn has reached when
// that is done.
func Decide(s Situation) (Action, Stage) {
	switch {
	case s.Object == Missing:
		return Create{}, s.Stage
	case s.Object == SetAside && s.Closed:
		return TellSetAside{}, s.Stage
	case s.Object == SetAside:
		return TellSetAside{After: CloseRetry}, s.Stage
	case s.Stage < Told && s.Untold && (s.Closed || !s.Past.hasCommitted()):
		// An outcome is told before the next change begins: it has an author who waits
		// for it.
		return TellOutcome{}, Told
	case !s.Closed:
		return Rest{CloseRetry}, s.Stage
	case s.Stage < Enforced && s.Ending:
		return Rest{}, s.Stage
	case s.Stage < Enforced:
		return enforce(s)
	case s.Stage < Reported:
		return Report{}, Reported
	case s.Stage < Corrected:
		return Correct{}, Corrected
	}
	return Rest{s.Wait}, s.Stage
}

// hasCommitted tells whether the last change was committed. That is told only once
// it is on the disk: as long as it is not, a handler that starts may have to take it
// back, and what was Available would be lost without a word.
func (p Past) hasCommitted() bool { return p.Last != nil && p.Last.Result == v1.TransactionCommitted }

// enforce decides whether what is wanted begins now.
func enforce(s Situation) (Action, Stage) {
	switch s.Past.Failed.of(s.Wanted, s.Past.Last) {
	case answered:
		return Forget{}, s.Stage
	case renewed:
		again := s.Past.Failed.Last.DeepCopy()
		again.Generation, again.Sources = s.Wanted.Change.Generation, v1.PlainSources(s.Wanted.Sources)
		return Repeat{*again}, Enforced
	}
	committed := s.Past.Committed
	switch {
	case committed == nil && s.Wanted.Nothing:
		return Pause{}, Enforced
	case committed != nil && committed.Hash == s.Wanted.Change.Hash && SameSources(s.Wanted.Sources, committed.Sources):
		return Pause{}, Enforced
	case committed != nil && committed.Hash == s.Wanted.Change.Hash:
		return Adopt{s.adopted()}, Enforced
	}
	return s.attempt(), Enforced
}

// adopted is how a change ends that changes nothing but where the state comes from.
func (s Situation) adopted() v1.Transaction {
	return v1.Transaction{
		Generation: s.Wanted.Change.Generation, Phase: string(txn.Idle), Since: *InSeconds(s.Now),
		Policy:  ChangedPolicy(s.Wanted.Policy, s.Wanted.Sources, s.Past.Committed.Sources),
		Sources: v1.PlainSources(s.Wanted.Sources), Result: v1.TransactionCommitted,
	}
}

// attempt is to be made now, or after a wait.
func (s Situation) attempt() Action {
	last := s.Past.Last
	switch {
	case last == nil || last.Generation != s.Wanted.Change.Generation || last.Result == v1.TransactionCommitted:
		return Begin{}
	case last.RetryAfter == nil: // The policy handler decides when to propose it again.
		return Pause{}
	}
	wait := last.RetryAfter.Sub(s.Now)
	if most := s.longestWait(); wait > most {
		// By a clock that was ahead then, or is behind now: how much of the wait is
		// over nobody knows.
		again := *last
		again.RetryAfter = InSeconds(s.Now.Add(most))
		return Pause{For: most, Last: &again}
	}
	if wait <= 0 {
		return Begin{}
	}
	return Pause{For: wait}
}

// longestWait is the most that may be left of the wait after a change. What was
// lost is not in it, so it is as long as where a probe was.
func (s Situation) longestWait() time.Duration {
	if s.Past.Last.Result == v1.TransactionSuperseded {
		return SupersededPause
	}
	return s.Backoff.After(s.Node, s.Past.Last.Attempts, true)
}

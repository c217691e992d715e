package txn

import (
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Step is the transaction: given where it stands and what happened, where it
// stands now and what is to be done. An open state must be journaled before
// its effects are performed.
func Step(s State, e Event) (State, []Effect) {
	if lost, ok := e.(CheckpointLost); ok {
		return s.checkpointLost(lost)
	}
	switch s.Phase {
	case Idle, "":
		return s.idle(e)
	case Baseline:
		return s.baseline(e)
	case Arming:
		return s.arming(e)
	case Applying:
		return s.applying(e)
	case Probing:
		return s.probing(e)
	case Committing:
		return s.committing(e)
	case RollingBack:
		return s.rollingBack(e)
	case Settling:
		return s.settling(e)
	}
	panic(fmt.Sprintf("txn: unknown phase %q", s.Phase))
}

func (s State) idle(e Event) (State, []Effect) {
	switch e := e.(type) {
	case Wanted:
		return State{Phase: Baseline, Change: e.Change}, []Effect{MeasureBaseline{}}
	case Recovered:
		return recovered(e)
	}
	return s, nil
}

// recovered takes an earlier process's open transaction back. One that was
// proven is made permanent instead, as long as the node still has it: its
// commit had begun, and no way back from it.
func recovered(e Recovered) (State, []Effect) {
	s := e.Journal
	if s.Proven && s.Cause == nil && e.Alive {
		return s.commit()
	}
	if s.Cause == nil {
		s.Cause = s.interrupted("the handler was restarted in phase " + string(s.Phase))
	}
	switch {
	case e.Alive:
		return s.to(RollingBack), []Effect{Rollback{}}
	case s.Proven, e.Forgotten && !s.Restored && !s.LastResort:
		return s.to(Settling), []Effect{Settle{}}
	}
	s.Lost = true // After a boot, too, where the last resort has begun: what it left, none forgot.
	return s.undo()
}

// interrupted is the cause of a trial that was ended from outside.
func (s State) interrupted(what string) *Cause {
	cause := &Cause{Message: what, Interrupted: true}
	if s.Change.Interrupted+1 >= maxInterruptions {
		cause.Final = true
		cause.Message += ", as once before: it is not tried again"
	}
	return cause
}

func (s State) baseline(e Event) (State, []Effect) {
	switch e := e.(type) {
	case BaselineMeasured:
		if len(e.Silent) > 0 && len(s.Change.Probes) == 0 && s.Silences < e.mostSilences() {
			s.Silences, s.Waiting = s.Silences+1, e.Silent
			return s, []Effect{MeasureBaseline{In: silencePause}}
		}
		s.Waiting = nil
		s.Guards = s.Change.guards(e.Passed)
		return s.to(Arming), []Effect{Arm{}}
	case Unwanted:
		return s.finish(v1.TransactionSuperseded, e.Reason)
	}
	return s, nil
}

func (s State) arming(e Event) (State, []Effect) {
	switch e := e.(type) {
	case Unwanted:
		s.Cause = &Cause{Message: e.Reason, Superseded: true}
	case NotArmed:
		s.Cause = &e.Cause
		return s.refused()
	case Armed:
		if s.Cause != nil {
			return s.refused()
		}
		return s.to(Applying), []Effect{Apply{}}
	}
	return s, nil
}

func (s State) applying(e Event) (State, []Effect) {
	switch e := e.(type) {
	case CheckpointMade:
		s.Checkpoint = e.Checkpoint
	case Unwanted:
		if s.Cause == nil {
			s.Cause = &Cause{Message: e.Reason, Superseded: true}
			return s, []Effect{KillApply{}}
		}
	case Applied:
		s.Checkpoint = e.Checkpoint
		if s.Cause != nil {
			return s.undo()
		}
		return s.trial(e.At)
	case ApplyFailed:
		if s.Cause == nil {
			s.Cause = &Cause{Message: e.Message}
		}
		if e.Refused {
			return s.refused()
		}
		return s.undo()
	}
	return s, nil
}

func (s State) probing(e Event) (State, []Effect) {
	switch e := e.(type) {
	case ProbePassed:
		if !slices.Contains(s.Waiting, e.Name) {
			return s, nil
		}
		s.Waiting = without(s.Waiting, e.Name)
		s.Intact = s.Intact || e.Name == Foreign
		if len(s.Waiting) == 0 {
			return s.proven(e.At)
		}
		if len(s.LostProbes) == 0 {
			s.Until = s.nextDeadline()
		}
		return s.lostIfAllEnded()
	case ProbeLost:
		lost := map[string]string{e.Name: e.Message}
		maps.Copy(lost, s.LostProbes)
		s.LostProbes = lost
		if e.At.Before(s.Until) {
			s.Until = e.At
		}
		return s.lostIfAllEnded()
	case Confirmed:
		if s.AwaitsConfirmation() {
			return s.commit()
		}
	case Tick:
		if s.AwaitsConfirmation() && !e.At.Before(s.Until) {
			return s.notConfirmed()
		}
		if e.At.Before(s.Until.Add(probeGrace)) {
			return s, nil
		}
		return s.overdue(e.At).probesLost()
	case Unwanted:
		return s.takeBack(Cause{Message: e.Reason, Superseded: true})
	case NotArmed:
		return s.takeBack(e.Cause) // The journal cannot be told that it is proven.
	}
	return s, nil
}

// lostIfAllEnded waits until every guard has passed or given up, so that the
// message can name all that were lost: but not longer than the grace after the
// first one was, since the change goes back anyway.
func (s State) lostIfAllEnded() (State, []Effect) {
	for _, name := range s.Waiting {
		if _, ended := s.LostProbes[name]; !ended {
			return s, nil
		}
	}
	return s.probesLost()
}

func (s State) committing(e Event) (State, []Effect) {
	switch e := e.(type) {
	case Committed:
		return s.finish(v1.TransactionCommitted, "")
	case CommitFailed:
		s.Cause, s.Intact = &Cause{Message: "committing: " + e.Message}, false // The checkpoint may have ended, and dropped something.
		switch {
		case e.Gone:
			return s.to(Settling), []Effect{Settle{}}
		case s.Checkpoint == "":
			s.Lost, s.Proven = true, false
		}
		// Otherwise it stays proven: the commit may have happened and only its
		// answer be lost. Then the rollback finds the checkpoint gone, and the
		// node tells.
		return s.undo()
	}
	return s, nil
}

func (s State) rollingBack(e Event) (State, []Effect) {
	switch e := e.(type) {
	case RolledBack:
		s.Proven = false
		return s.to(Settling), []Effect{Settle{}}
	case Seen:
		if s.Lost {
			return s, []Effect{Restore{}}
		}
		return s, []Effect{Rollback(e)}
	case Restored:
		s.Restored, s.Proven = true, false
		return s.to(Settling), []Effect{Settle{}}
	case Reverted:
		s.Restored, s.Reverted, s.Proven = true, true, false
		return s.to(Settling), []Effect{Settle{}}
	case RollbackFailed:
		switch {
		case !e.Gone:
			return s.undoFailed(e.Message, e.Hindrance)
		case s.Proven:
			return s.to(Settling), []Effect{Settle{}}
		}
		s.Lost = true
		return s.undo()
	case RestoreFailed:
		return s.undoFailed(e.Message, e.Hindrance)
	case RevertFailed:
		return s.undoFailed(e.Message, e.Hindrance)
	case Tick:
		if s.Until.IsZero() || e.At.Before(s.Until) {
			return s, nil
		}
		s.Until = time.Time{}
		return s.undo()
	}
	return s, nil
}

func (s State) settling(e Event) (State, []Effect) {
	settled, ok := e.(Settled)
	switch {
	case !ok:
		return s, nil
	case s.Proven && len(settled.Missing) == 0:
		// The checkpoint is gone and the change is in place: what is left of
		// making it permanent is done.
		s.Checkpoint, s.Cause = "", nil
		return s.commit()
	case len(settled.Differences) == 0 && len(settled.Foreign) > 0:
		// The journal's revert knows nothing of these.
		return s.incomplete(settled.Foreign)
	case len(settled.Differences) == 0:
		if s.Cause.Superseded {
			return s.finish(v1.TransactionSuperseded, s.Cause.Message)
		}
		return s.finish(v1.TransactionRolledBack, s.Cause.Message)
	case !s.Reverted:
		// The checkpoint is spent and something is still not as before: the
		// journal knows what it was, profile by profile, and as a state.
		s.Lost, s.Proven = true, false
		return s.undo()
	case settled.Cut:
		// NetworkManager took all of it and has not done it.
		s.Restored, s.Reverted = false, false
		return s.to(RollingBack).undoFailed("", settled.Hindrance)
	}
	return s.incomplete(slices.Concat(settled.Differences, settled.Foreign))
}

// checkpointLost: NetworkManager restarted. On the way forward the trial would
// stay without proof, from /run; on the way back it ends the rollback.
func (s State) checkpointLost(CheckpointLost) (State, []Effect) {
	s.Intact = false
	restarted := s.interrupted("NetworkManager restarted in phase " + string(s.Phase) + ", before the change was proven")
	switch s.Phase {
	case Applying:
		s.Lost = true
		if s.Cause == nil {
			s.Cause = restarted
			return s, []Effect{KillApply{}}
		}
	case Probing:
		s.Lost = true
		return s.takeBack(*restarted)
	case RollingBack, Settling:
		// A rollback or comparison that runs still answers; what it says is
		// worth nothing now, so the way back begins again from the journal.
		s.Lost, s.Restored, s.Reverted, s.Proven = true, false, false, false
		return s.undo()
	}
	return s, nil
}

// undo takes the trial back: by the checkpoint while it may live, then by the
// profiles that the journal holds, and where that does not suffice by the
// journal's revert.
func (s State) undo() (State, []Effect) {
	s.Waiting, s.LostProbes, s.Until = nil, nil, time.Time{}
	switch {
	case !s.Lost:
		rollback := Rollback{Intact: s.Intact}
		s.Intact = false // A second try finds what the first one dropped.
		return s.to(RollingBack), []Effect{rollback}
	case !s.Restored:
		return s.to(RollingBack), []Effect{Restore{}}
	}
	s.LastResort = true
	return s.to(RollingBack), []Effect{Revert{}}
}

// undoFailed tries again later: for ever where NetworkManager is away, since it
// would come back with the unproven change, and where the node is cut off, since
// giving up would make that permanent.
func (s State) undoFailed(message string, h Hindrance) (State, []Effect) {
	if h.Unavailable {
		s.Until = h.At.Add(undoRetryFirst)
		return s, nil
	}
	s.UndoAttempts++
	switch {
	case s.UndoAttempts < maxUndoAttempts:
	case s.Lost && !s.Restored:
		s.Restored, s.UndoAttempts = true, 1 // The last resort is next.
	case !h.Cut:
		return s.incomplete([]string{"rolling back: " + message})
	}
	s.UndoAttempts = min(s.UndoAttempts, maxUndoAttempts)
	wait, most := undoRetryFirst<<(s.UndoAttempts-1), undoRetryMost
	if h.Cut {
		most = undoRetryCut // Each try may disturb what does work.
	}
	s.Until = h.At.Add(min(wait, most))
	return s, nil
}

func (s State) incomplete(differences []string) (State, []Effect) {
	next, effects := s.finish(v1.TransactionRollbackIncomplete, s.Cause.Message)
	finish := effects[0].(Finish)
	finish.Outcome.Differences = differences
	return next, []Effect{finish}
}

// refused ends a change that had not begun.
func (s State) refused() (State, []Effect) {
	if s.Cause.Superseded {
		return s.finish(v1.TransactionSuperseded, s.Cause.Message)
	}
	return s.finish(v1.TransactionRefused, s.Cause.Message)
}

func (s State) finish(result v1.TransactionResult, message string) (State, []Effect) {
	outcome := Outcome{Change: s.Change, Result: result, Message: message, GuardedBy: s.Guards}
	if result != v1.TransactionCommitted && s.Cause != nil {
		outcome.Final, outcome.Interrupted, outcome.Awaits = s.Cause.Final, s.Cause.Interrupted, s.Cause.Awaits
	}
	return State{Phase: Idle}, []Effect{Finish{Outcome: outcome}}
}

func (s State) to(phase Phase) State {
	s.Phase = phase
	return s
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

package txn

import "time"

// Event is something that happened. Events that do not fit the phase are
// ignored: they are late answers.
type Event interface{ event() }

type (
	// Wanted: the node should be brought to another desired state.
	Wanted struct{ Change Change }
	// Unwanted: the running change is not wanted any more (edited, deleted,
	// node no longer managed).
	Unwanted struct{ Reason string }
	// BaselineMeasured: these default probes pass now, on the committed state. Where none
	// does, and the change can wait, Silent are those that were asked. Answered: one of them
	// has passed before, since the handler began.
	BaselineMeasured struct {
		Passed, Silent []string
		Answered       bool
	}
	// Armed: the desired state was read live and still holds, and the way
	// back is on disk.
	Armed struct{}
	// NotArmed: the change must not begin now, or, of a trial that has passed, its
	// being made permanent.
	NotArmed struct{ Cause Cause }
	// CheckpointMade: the trial's checkpoint exists.
	CheckpointMade struct{ Checkpoint string }
	// Applied: the trial is in place, At this time.
	Applied struct {
		Checkpoint string
		At         time.Time
	}
	// ApplyFailed: Refused means that nothing was changed.
	ApplyFailed struct {
		Message string
		Refused bool
	}
	// ProbePassed: the guard passed on the trial.
	ProbePassed struct {
		Name string
		At   time.Time
	}
	// ProbeLost: the guard did not pass within its time.
	ProbeLost struct {
		Name, Message string
		At            time.Time
	}
	// Confirmed: a person confirmed the change.
	Confirmed struct{}
	// Tick: the time is At.
	Tick struct{ At time.Time }
	// Committed: the trial is permanent.
	Committed struct{}
	// CommitFailed: Gone means that the checkpoint was not alive any more.
	CommitFailed struct {
		Message string
		Gone    bool
	}
	// RolledBack: the checkpoint was rolled back.
	RolledBack struct{}
	// RollbackFailed: Gone means that the checkpoint was not alive any more.
	RollbackFailed struct {
		Message string
		Gone    bool
		Hindrance
	}
	// Seen: what is on the node as the way back begins was noted for the journal, and
	// nothing was done yet. Intact is that of the Rollback, if it is one.
	Seen struct{ Intact bool }
	// Restored: the profiles from before are back, without the checkpoint.
	Restored struct{}
	// RestoreFailed: not all of them are.
	RestoreFailed struct {
		Message string
		Hindrance
	}
	// Reverted: the journal's revert was applied and committed.
	Reverted struct{}
	// RevertFailed: it could not be applied.
	RevertFailed struct {
		Message string
		Hindrance
	}
	// Settled: how the node compares, now that it is quiet, with the state
	// before the change, and what of the desired state it lacks. Foreign is
	// what the change did not name, was dropped and cannot be put back.
	Settled struct {
		Differences, Missing, Foreign []string
		Hindrance
	}
	// Hindrance is what decides for how long a way back that failed is tried again.
	// Unavailable: there was no NetworkManager to ask. Cut: the API server and
	// the gateway, which guarded the change, do not answer, so nobody can tell the node
	// anything better.
	Hindrance struct {
		Unavailable, Cut bool
		At               time.Time
	}
	// CheckpointLost: NetworkManager restarted.
	CheckpointLost struct{}
	// Recovered: a journal of an earlier process is open. Alive: its
	// checkpoint still exists. Forgotten: the node has booted since, which left
	// nothing of a trial that was in memory only.
	Recovered struct {
		Journal          State
		Alive, Forgotten bool
	}
)

func (Wanted) event()           {}
func (Unwanted) event()         {}
func (BaselineMeasured) event() {}
func (Armed) event()            {}
func (NotArmed) event()         {}
func (CheckpointMade) event()   {}
func (Applied) event()          {}
func (ApplyFailed) event()      {}
func (ProbePassed) event()      {}
func (ProbeLost) event()        {}
func (Confirmed) event()        {}
func (Tick) event()             {}
func (Committed) event()        {}
func (CommitFailed) event()     {}
func (RolledBack) event()       {}
func (RollbackFailed) event()   {}
func (Seen) event()             {}
func (Restored) event()         {}
func (RestoreFailed) event()    {}
func (Reverted) event()         {}
func (RevertFailed) event()     {}
func (Settled) event()          {}
func (CheckpointLost) event()   {}
func (Recovered) event()        {}

// Effect is something to be done now. Its answer comes back as an event.
type Effect interface{ effect() }

type (
	// MeasureBaseline answers BaselineMeasured, after this time.
	MeasureBaseline struct{ In time.Duration }
	// Arm reads the desired state live, computes the way back and writes the
	// journal; it answers Armed or NotArmed.
	Arm struct{}
	// Apply answers CheckpointMade, then Applied or ApplyFailed.
	Apply struct{}
	// KillApply makes the running apply answer ApplyFailed soon.
	KillApply struct{}
	// Probe starts the guards; each answers ProbePassed or ProbeLost.
	Probe struct{ Names []string }
	// StopProbes ends those that still run, without an answer.
	StopProbes struct{}
	// Commit makes the trial permanent on disk, then gives the checkpoint up;
	// it answers Committed or CommitFailed. Done again it goes on where it ended.
	Commit struct{}
	// Rollback answers RolledBack or RollbackFailed. Intact is that of the State: what is
	// gone by now somebody took away on purpose.
	Rollback struct{ Intact bool }
	// Restore brings the profiles from before back without the checkpoint: byte
	// for byte, and active where they were. It answers Restored or
	// RestoreFailed; Reverted where the journal holds no profiles.
	Restore struct{}
	// Revert applies what nmstate's model says leads back: the last resort. It
	// answers Reverted or RevertFailed.
	Revert struct{}
	// Settle answers Settled.
	Settle struct{}
	// Finish ends the transaction: the outcome is recorded, then the journal
	// is closed.
	Finish struct{ Outcome Outcome }
)

func (MeasureBaseline) effect() {}
func (Arm) effect()             {}
func (Apply) effect()           {}
func (KillApply) effect()       {}
func (Probe) effect()           {}
func (StopProbes) effect()      {}
func (Commit) effect()          {}
func (Rollback) effect()        {}
func (Restore) effect()         {}
func (Revert) effect()          {}
func (Settle) effect()          {}
func (Finish) effect()          {}

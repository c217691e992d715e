package txn

import (
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Phase is where a transaction stands.
type Phase string

// The phases, in the order in which a transaction that succeeds passes them.
const (
	Idle        Phase = "Idle"
	Baseline    Phase = "Baseline"
	Arming      Phase = "Arming"
	Applying    Phase = "Applying"
	Probing     Phase = "Probing"
	Committing  Phase = "Committing"
	RollingBack Phase = "RollingBack"
	Settling    Phase = "Settling"
)

const (
	// checkpointMargin is how much longer than the probe window a checkpoint
	// lives, so that its expiry never races a commit.
	checkpointMargin = 30 * time.Second
	// probeGrace is how long after a probe's time its own answer is waited for
	// before it counts as lost without one, and how long after the first lost
	// probe the others are heard.
	probeGrace = 2 * time.Second
	// maxInterruptions of one change; the last one is final. One may be chance,
	// and trying again after two would be for ever where the change itself
	// brings the node down.
	maxInterruptions = 2
	// maxUndoAttempts bounds the tries to get back; then the transaction ends
	// as incomplete, so that a better desired state can be applied.
	maxUndoAttempts = 8
	undoRetryFirst  = time.Second
	undoRetryMost   = 30 * time.Second
	undoRetryCut    = 2 * time.Minute
	// maxSilences is how often the default probes are asked again, with a pause between,
	// where none answers and the change has no probe of its own: a minute, in which a
	// switch has learned its network anew. The API server has just answered, or there
	// would be no change; begun without a guard, one that cuts the node off would be
	// committed. Where one has answered before it is five minutes: it may answer again.
	maxSilences         = 15
	maxSilencesAnswered = 75
	silencePause        = 4 * time.Second
)

// mostSilences before the change begins without a guard.
func (e BaselineMeasured) mostSilences() int {
	if e.Answered {
		return maxSilencesAnswered
	}
	return maxSilences
}

// ReadBack is the guard that every change has: the state read from the node
// contains what was desired. It is not a probe and is not listed as one.
const ReadBack = "desired-state"

// Foreign is another one: what the change does not name is as before, or was
// put back. It is not a probe either.
const Foreign = "foreign"

// Change is what a transaction is about.
type Change struct {
	// Generation of the NodeNetworkState that wants it.
	Generation int64 `json:"generation"`
	// Hash of the desired state.
	Hash string `json:"hash"`
	// Policy that changed; empty for a hand-written desired state.
	Policy string `json:"policy,omitempty"`
	// Window is how long the default probes, and the read-back, may take.
	Window time.Duration `json:"windowNanoseconds"`
	// Probes guard the change whether they passed before or not, next to the
	// default ones unless those are dropped.
	Probes       []Guard `json:"probes,omitempty"`
	DropDefaults bool    `json:"dropDefaults,omitempty"`
	// Confirm is how long a person has to confirm the change once everything
	// else has passed; zero asks nobody.
	Confirm time.Duration `json:"confirmNanoseconds,omitempty"`
	// Interrupted is how often in a row a crash, a reboot or a restart of
	// NetworkManager has ended a trial of the same desired state before.
	Interrupted int `json:"interrupted,omitempty"`
}

// RollbackAfter is the life that the change's checkpoint needs: the probes of
// the longest time, a person after them, and a margin.
func (c Change) RollbackAfter() time.Duration { return c.longest() + c.Confirm + checkpointMargin }

// Cause is why a change is taken back.
type Cause struct {
	// Message is one line: step, object, cause.
	Message string `json:"message"`
	// Final: the same change is not tried again.
	Final bool `json:"final,omitempty"`
	// Awaits are interfaces that are not on the node.
	Awaits []string `json:"awaits,omitempty"`
	// Superseded: nobody failed; the desired state changed meanwhile.
	Superseded bool `json:"superseded,omitempty"`
	// Interrupted: a crash, a reboot or a restart of NetworkManager ended the trial.
	Interrupted bool `json:"interrupted,omitempty"`
}

// State is where the node's transaction stands. It is plain data: the journal
// holds it as JSON.
type State struct {
	Phase  Phase  `json:"phase"`
	Change Change `json:"change"`
	// Guards are the probes that must pass: the default ones that passed
	// before the change, and the change's own.
	Guards []string `json:"guards,omitempty"`
	// Checkpoint of the trial, once it was made.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Lost: NetworkManager restarted, so the checkpoint is no more.
	Lost bool `json:"lost,omitempty"`
	// Proven: every guard passed on the live trial, so a commit was begun.
	Proven bool `json:"proven,omitempty"`
	// Restored: the profiles from before were brought back without the checkpoint.
	Restored bool `json:"restored,omitempty"`
	// Reverted: the journal's revert was applied.
	Reverted bool `json:"reverted,omitempty"`
	// LastResort: the journal's revert was begun, also where a restart of
	// NetworkManager has the way back begin again. It may have left files.
	LastResort bool `json:"lastResort,omitempty"`
	// Cause of the way back; nil on the way forward.
	Cause *Cause `json:"cause,omitempty"`

	// What follows is of this process only.

	// Silences is how often nothing has answered before the change.
	Silences int `json:"-"`
	// Waiting are the guards that have not passed yet.
	Waiting []string `json:"-"`
	// LostProbes are the guards that gave up, and why.
	LostProbes map[string]string `json:"-"`
	// Intact: with the change in place, nothing that it does not name was lost, and nothing
	// has happened since that may have dropped something.
	Intact bool `json:"-"`
	// Began is when the trial was in place.
	Began time.Time `json:"-"`
	// Until is when the first guard is lost or was, the end of a person's time,
	// or the time of the next try to get back.
	Until time.Time `json:"-"`
	// UndoAttempts that failed in a row.
	UndoAttempts int `json:"-"`
}

// Open tells whether the node may differ from its committed state, so that
// the journal has to know.
func (s State) Open() bool {
	switch s.Phase {
	case Applying, Probing, Committing, RollingBack, Settling:
		return true
	}
	return false
}

// Running tells whether a transaction is under way.
func (s State) Running() bool { return s.Phase != Idle && s.Phase != "" }

// WaitsToUndo tells whether a try to get back has failed and the next one is
// still to come.
func (s State) WaitsToUndo() bool { return s.Phase == RollingBack && !s.Until.IsZero() }

// Outcome is how a transaction ended.
type Outcome struct {
	Change Change
	Result v1.TransactionResult
	Final  bool
	// Interrupted: the trial was not judged, it was ended from outside.
	Interrupted bool
	Message     string
	// Awaits are interfaces that are not on the node.
	Awaits    []string
	GuardedBy []string
	// Differences that a rollback left behind, one line each.
	Differences []string
}

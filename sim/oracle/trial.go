package oracle

import (
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Trial is one try of a change on a node.
type Trial struct {
	Process *world.Process
	// Entry is the journal as it was when the apply was asked for.
	Entry *journal.Entry
	// Asked, Made, Applied and Proven are when; zero for not yet.
	Asked, Made, Applied, Proven time.Duration
	Life                         time.Duration
	Checkpoint                   string
	// Before is the node's network before it, Reached what it reached then.
	Before  state.State
	Reached map[string]bool
	// Passed are the probes that passed on the trial; ReadBack: the node's
	// network was read then.
	Passed   map[string]bool
	ReadBack bool
	// Ended is what became of the checkpoint; empty for nothing yet.
	Ended   Ending
	EndedAt time.Duration
	// Interrupted: the process died. Unwanted: at some time its node's desired state
	// was another one, or nobody managed the node.
	Interrupted, Unwanted bool
}

// Policy that the trial is the change of: its name and generation, and the hash
// of what it comes to; false for a removal, a correction and what was written
// by hand.
func (t *Trial) Policy() (v1.Source, bool) {
	if t.Entry == nil || len(t.Entry.Correction) > 0 {
		return v1.Source{}, false
	}
	for _, s := range t.Entry.Sources {
		if name := t.Entry.Transaction.Change.Policy; name != "" && s.Policy == name {
			return s.Source, true
		}
	}
	return v1.Source{}, false
}

package oracle

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Event is something that happened.
type Event struct {
	At time.Duration
	// Node that it is about; empty for none.
	Node string
	// Process that did it; nil for nobody of ours.
	Process *world.Process
	What    What
}

// What happened.
type What interface{ what() }

type (
	// Died: the process was killed or ended.
	Died struct{}
	// Applying: an apply is asked for; nothing of it has happened yet.
	Applying struct {
		Desired state.State
		Life    time.Duration
	}
	// CheckpointMade: it is there. Owner is the name of its process, empty for
	// somebody else's.
	CheckpointMade struct{ ID, Owner string }
	// Applied: the apply under the checkpoint has succeeded on the host.
	Applied struct{ ID string }
	// Committing: a commit is asked for; it has not happened yet.
	Committing struct{ ID string }
	// CheckpointEnded: what became of it on the host. By is the name of the
	// process that ended it, empty for none.
	CheckpointEnded struct {
		ID, Owner, By string
		How           Ending
	}
	// Probed: a probe of a process has answered.
	Probed struct {
		Name  string
		Err   error
		Began time.Duration
	}
	// Shown: a process has read its node's network.
	Shown struct{ Began time.Duration }
	// JournalSaved: it is on the disk.
	JournalSaved struct{ Entry journal.Entry }
	// DiskWritten: a file that the next boot reads was written or taken away.
	DiskWritten struct{ Path string }
	// JournalClosed: the record is on the disk and the open entry is not.
	JournalClosed struct{ Record journal.Record }
	// Read: a process has read an object, past its cache if Live. Object is nil
	// where there is none, and immutable.
	// Agent: the state handler has.
	Read struct {
		Live   bool
		Agent  bool
		Like   client.Object
		Name   string
		Object client.Object
	}
	// Wrote: an object changed in the API server.
	Wrote struct{ apiserver.Write }
	// Fault: one begins to be at work, or ends; an instant one only begins.
	Fault struct {
		Kind    string
		On, End bool
	}
	// Quiet: nothing is to happen from now on, or the stretch is over.
	Quiet struct{ Over bool }
)

// Ending is what becomes of a checkpoint.
type Ending string

// The endings.
const (
	Committed  Ending = "committed"
	RolledBack Ending = "rolled back"
	Expired    Ending = "expired"
	Lost       Ending = "lost"
)

func (Died) what()            {}
func (Applying) what()        {}
func (CheckpointMade) what()  {}
func (Applied) what()         {}
func (Committing) what()      {}
func (CheckpointEnded) what() {}
func (Probed) what()          {}
func (Shown) what()           {}
func (JournalSaved) what()    {}
func (DiskWritten) what()     {}
func (JournalClosed) what()   {}
func (Read) what()            {}
func (Wrote) what()           {}
func (Fault) what()           {}
func (Quiet) what()           {}

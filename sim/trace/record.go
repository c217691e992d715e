package trace

import (
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Record is a run as the timeline shows it. Times are since its start.
type Record struct {
	// Title: the scenario's name, or "swarm".
	Title string
	Seed  uint64
	// Replay is the command that does it again.
	Replay string
	// Hash of the trace.
	Hash uint64
	// Length of the run.
	Length time.Duration
	// Facts are more of what is worth knowing, such as the faults that were
	// drawn: name and value.
	Facts [][2]string
	// Rows: the cluster's own, then whoever is no node, then the nodes.
	Rows []*Row
	// Violations in the order of time.
	Violations []world.Line
	// Dropped counts the lines that are in no row, since there are too many.
	Dropped int
}

// Row is what happened to a node, to a process that is nobody's node, or to the cluster.
type Row struct {
	Name string
	// Node tells that it is one.
	Node bool
	// Lives of processes: Name is the process.
	Lives []*Span
	// Transactions of the node's network.
	Transactions []*Transaction
	// Faults that lasted: Name is the kind.
	Faults []*Span
	// Cuts are the times in which something was out of the node's reach: Name is
	// what (gateway, dns, api).
	Cuts []*Span
	// Marks are instants, at most maxMarks; Dropped counts the others.
	Marks   []world.Line
	Dropped int
	// Lines of the trace, of the run's end if there are too many.
	Lines []world.Line
}

// Span is something that lasted.
type Span struct {
	Begin, End time.Duration
	// Open: it had not ended when the run did.
	Open bool
	Name string
	// Text says more; how a life ended, the cause of a cut.
	Text string
}

// Transaction of a node.
type Transaction struct {
	Span
	// Policy that changed; "" for a state written by hand.
	Policy     string
	Generation string
	// Drift tells that it corrects what somebody else changed.
	Drift bool
	// Result as the API has it; "" while it was open.
	Result string
	// Phases with the time in which nobody was there to go on (Down).
	Phases []*Span

	process string // that has it
}

// Down is the phase of a transaction whose handler is dead.
const Down = "Down"

// Limits of a record, so that the timeline of a long run opens quickly.
const (
	// maxMarks of a row.
	maxMarks = 2000
	// maxLines that are kept of the trace, of port calls and of others each.
	maxLines = 20000
)

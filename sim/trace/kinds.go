package trace

import "slices"

// The kinds of lines that are not port calls; see the package's comment. Those
// below this package in the tree write them as they stand here.
const (
	Fault  = "fault"
	Start  = "start"
	Killed = "killed"
	Log    = "log"
	Error  = "error"
	Reach  = "reach"
	Host   = "host"
	Policy = "policy"
	Node   = "node"
	Leader = "leader"
	Phase  = "phase"
	Step   = "step"
	// Checkpoint: its number and what became of it; a mark where it was not its
	// owner who ended it.
	Checkpoint = "checkpoint"
	Violation  = "violation"
	Activation = "activation"
	// Event is one of Kubernetes, Turn a reconcile that ended with an error.
	Event = "event"
	Turn  = "turn"
	Fail  = "fail"
)

// ports are the kinds of lines that are port calls.
var ports = []string{"api", "backend", "probe", "journal", "foreign", "helper"}

// call stands for all of them where lines are chosen.
const call = "call"

// Kinds are what lines can be chosen by, sorted.
func Kinds() []string {
	kinds := slices.Concat(ports, []string{
		call, Fault, Start, Killed, Log, Error, Reach, Host, Policy, Node, Leader, Phase, Step, Checkpoint, Violation, Fail, Activation, Event, Turn,
	})
	slices.Sort(kinds)
	return kinds
}

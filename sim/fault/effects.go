package fault

import (
	"math/rand/v2"
	"time"
)

// Effects is what faults do to the cluster. A call about something that is
// not there (a node that has gone, a process that is down) does nothing.
// Processes are named by their node; the controllers are Controllers.
type Effects interface {
	Processes
	API
	Hosts
	Network
	People
}

// Controllers is the target that stands for the controllers' leader.
const Controllers = "controllers"

// Processes die, come twice, and have clocks.
type Processes interface {
	// Crash kills a process at once; it starts again after down.
	Crash(process string, down time.Duration)
	// KeepAway ends a node's handler, and starts it again.
	KeepAway(node string, away bool)
	// Rewind is a crash after which the process first sees the API server as it
	// was so long ago.
	Rewind(process string, by, down time.Duration)
	// Overlap starts a second handler beside the one of the node, and ends the
	// older one.
	Overlap(node string, on bool)
	// ChangeLeader makes another instance of the controllers the leader.
	ChangeLeader(r *rand.Rand)
	// Skew sets how wrong a process's wall clock is.
	Skew(process string, by time.Duration)
}

// API is the API server as processes see it.
type API interface {
	// Lag holds back what a process's cache hears; zero ends it.
	Lag(process string, by time.Duration)
	// LoseEvents breaks the process's watches again and again until it ends: what
	// happens meanwhile comes late, merged, or by a new list.
	LoseEvents(process string, on bool, r *rand.Rand)
	// Answer has the server answer a share of the process's requests with this
	// status; 0 ends it.
	Answer(process string, status int, rate float64, r *rand.Rand)
	// Touch changes something that nobody cares about in a node's objects (all for
	// an empty name), so that a write on an older revision conflicts.
	Touch(node string)
}

// Ways in which applies go wrong.
const (
	// SpoilPartial: a part is done, then it fails.
	SpoilPartial = "partial"
	// SpoilLate: all is done, then it fails.
	SpoilLate = "late-error"
	// SpoilSlow: it takes longer than the checkpoint lives.
	SpoilSlow = "slow"
	// SpoilSkip: something is left out, and success is told.
	SpoilSkip = "skip"
	// SpoilStay: a device stays disconnected, and success is told.
	SpoilStay = "stay"
	// SpoilRefused: it fails before anything is done.
	SpoilRefused = "refused"
)

// Hosts are the nodes' machines.
type Hosts interface {
	// RestartManager stops NetworkManager and starts it after down: its
	// checkpoints are lost.
	RestartManager(node string, down time.Duration)
	// KillManager has NetworkManager die in most of the cases in which it has made a
	// device and not yet used it.
	KillManager(node string, on bool, r *rand.Rand)
	// HangManager makes it answer nobody.
	HangManager(node string, on bool)
	// SpoilApply has applies go wrong in this way, one of the Spoil constants;
	// empty ends it.
	SpoilApply(node, how string, r *rand.Rand)
	// RefusePutBack has the kernel refuse to take back what it lost.
	RefusePutBack(node string, on bool)
	// ExpireCheckpoint lets the timer of a checkpoint run out now.
	ExpireCheckpoint(node string)
	// ForeignCheckpoint makes a checkpoint of somebody else, or takes it away.
	ForeignCheckpoint(node string, on bool)
	// Reboot the machine; abrupt: without a shutdown.
	Reboot(node string, down time.Duration, abrupt bool)
	// Carrier of a NIC.
	Carrier(node, nic string, up bool)
	// Drift changes something by hand.
	Drift(node string, r *rand.Rand)
	// Disconnect lets a device go by hand.
	Disconnect(node string, r *rand.Rand)
	// FillDisk makes the journal's disk full, or empty again.
	FillDisk(node string, on bool)
}

// Network is what lies between the nodes.
type Network interface {
	// Partition cuts the node from the API server: its requests are lost, or
	// the replies, or both; neither ends it.
	Partition(node string, requests, replies bool)
	// DHCP sets how the servers are: "late", "gone", or empty for well.
	DHCP(how string)
	// Probes sets what the node's probes say: "lost" though they would pass,
	// "flapping", "slow", or empty for the truth.
	Probes(node, how string)
	// Service takes the "gateway" or the "dns" away, or brings it back.
	Service(name string, up bool)
}

// People change what is wanted.
type People interface {
	// AddNode brings a new node up.
	AddNode()
	// RemoveNode takes a node out of the cluster for good.
	RemoveNode(node string)
	// EditPolicy changes the policy that the node is applying, or any.
	EditPolicy(node string, r *rand.Rand)
	// DeletePolicy deletes it.
	DeletePolicy(node string, r *rand.Rand)
	// NodeReady sets the Node's condition, as its kubelet does.
	NodeReady(node string, ready bool)
	// Manage sets whether a node is managed.
	Manage(node string, managed bool)
	// Lie takes a node over, whose handler never comes back, and has it tell lies until it
	// ends; the last ones stay.
	Lie(node string, on bool, r *rand.Rand)
	// EditAgain edits a policy as EditPolicy does, and in the end the same one again.
	EditAgain(node string, first bool, r *rand.Rand)
	// DeleteOtherwise says the other thing of what becomes of a policy's configuration, and
	// deletes it: of any policy, since it is the node that is busy.
	DeleteOtherwise(node string, r *rand.Rand)
	// RenamePolicy deletes that policy and makes it under another name.
	RenamePolicy(node string, r *rand.Rand)
	// SwitchMode has it planned, and applied again in the end.
	SwitchMode(node string, plan bool, r *rand.Rand)
	// MoveLabel changes what policies select a node by, or puts it back.
	MoveLabel(node string, away bool, r *rand.Rand)
	// WriteState writes a desired state of the node by hand.
	WriteState(node string, r *rand.Rand)
}

package oracle

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Truth is what the rules may ask of the world, at any instant and without a
// trace. What it returns must not be changed. A node without a host is not
// asked about, except by Has.
type Truth interface {
	// Elapsed is the virtual time since the run's start.
	Elapsed() time.Duration
	// After has something done when the time is over.
	After(d time.Duration, action func())
	// Centralized tells whether the policy handler runs in the controllers.
	Centralized() bool
	// LeaderSince is when the controllers that lead, or led last, began to.
	LeaderSince() time.Duration
	// Has tells whether the node's host is there and switched on.
	Has(node string) bool
	// HasPod tells whether the node's kubelet knows of its handler's pod since the
	// boot: it runs, or is started again by and by.
	HasPod(node string) bool
	// IsBare tells whether no handler ever runs on the node.
	IsBare(node string) bool
	// IsTaken tells whether somebody has taken the node over: what it says may be a lie, and
	// what is on its host is nobody's business.
	IsTaken(node string) bool
	// Nodes that there are, sorted.
	Nodes() []string
	// Network is the node's network as a reader would be shown it now.
	Network(node string) state.State
	// Kernel is the node's kernel, as foreign things are noted.
	Kernel(node string) foreign.Snapshot
	// Revision of the node's network: another one after each change.
	Revision(node string) uint64
	// Reaches tells whether the node reaches what a default probe asks.
	Reaches(node, probe string) bool
	// Open tells whether a transaction is open on the node's disk.
	Open(node string) bool
	// Journal is what is open on the node's disk, nil for nothing; Record what is there
	// beside it.
	Journal(node string) *journal.Entry
	Record(node string) journal.Record
	// Disconnected are the devices that have a carrier and that NetworkManager holds not up:
	// it failed to activate them, or somebody let them go.
	Disconnected(node string) []string
	// Disk is what of NetworkManager is in files.
	Disk(node string) Disk
	// Look is a stored object, nil for none; Each calls f with all of a kind.
	Look(like client.Object, name string) client.Object
	Each(like client.Object, f func(client.Object))
}

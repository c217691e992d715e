package fault

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Scope is what a fault of a kind is about.
type Scope string

// The scopes.
const (
	// OnHandler: the handler's process on a node.
	OnHandler Scope = "handler"
	// OnProcess: a handler or the controllers.
	OnProcess Scope = "process"
	// OnNode: a node's host or its place in the network.
	OnNode Scope = "node"
	// OnCluster: everything.
	OnCluster Scope = "cluster"
)

// Kind is a kind of fault.
type Kind struct {
	// Name, and in one line what it is.
	Name, Doc string
	// On is what a fault of the kind is about.
	On Scope
	// Least and Most are how long one lasts; both zero: an instant.
	Least, Most time.Duration
	// Rate is the highest share of the calls that it hits while it lasts; zero
	// for what is not about calls.
	Rate float64
	// Never are phases in which there is nothing that it could hit.
	Never []txn.Phase
	// Lean: it is drawn in lean runs only (Shape).
	Lean bool
	// Rare: a run has one at most, and few runs have it: it leaves less to look at.
	Rare bool
	// Args are what one is drawn from; empty for none.
	Args []string

	// verdict on a call that it hits.
	verdict func(a *active, call world.Call) world.Verdict
	// begin and end change the cluster.
	begin, end func(e Effects, f Fault, r *rand.Rand)
}

// Instant tells whether it has no duration.
func (k Kind) Instant() bool { return k.Most == 0 }

// Catalog lists every kind, in an order that does not change the draws of
// another run: each has a stream of its own.
func Catalog() []Kind {
	return slices.Concat(processKinds(), apiKinds(), managerKinds(), applyKinds(), hostKinds(), networkKinds(), peopleKinds())
}

// Find looks a kind up by its name.
func Find(name string) (Kind, bool) {
	all := Catalog()
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// families: an address family whose default gateway answered before a change is
// not lost by the change that is committed, unless the change says something that
// takes its routes away. One family that answers must not hide that the other is dead.
type families struct{}

// familiesCalm is for how long before a change nothing else may have been at work:
// what did not answer in the baseline is no guard.
const familiesCalm = time.Minute

func (families) Name() string { return "families" }

// gatewayOf names what a node reaches of one family.
func gatewayOf(family state.Family) string { return probe.DefaultGateway + " " + string(family) }

func bothFamilies() []state.Family { return []state.Family{state.IPv4, state.IPv6} }

func (families) Observe(f *Facts, e Event) error {
	what, is := e.What.(CheckpointEnded)
	t := f.Node(e.Node).Trial
	if !is || what.How != Committed || what.Owner == "" || t == nil || t.Checkpoint != what.ID || t.Entry == nil {
		return nil
	}
	if t.dropsGuards() || !t.guardedBy(probe.DefaultGateway) || !f.Calm(e.Node, max(t.Asked-familiesCalm, 0), everything) {
		return nil
	}
	for _, family := range bothFamilies() {
		if t.Reached[gatewayOf(family)] && !f.Reaches(e.Node, gatewayOf(family)) && !takesAway(parsed(t.Entry.Change), family) {
			return fmt.Errorf("%s was committed, and the default gateway of %s, which answered before, is lost", t.Checkpoint, family)
		}
	}
	return nil
}

// takesAway tells whether a change says something that may leave a family without a
// default route. A bridge that takes the link and is given no such family is without it
// (hack/adr/0015-what-available-means.md).
func takesAway(desired state.State, family state.Family) bool {
	if slices.ContainsFunc(desired.Routes(), func(r state.Route) bool {
		return r.Absent && (r.Destination == "" || r.IsIPv6() == (family == state.IPv6))
	}) {
		return true
	}
	return slices.ContainsFunc(desired.Interfaces(), func(i state.Interface) bool {
		enabled, said := i.Enabled(family)
		return i.IsAbsent() || i.State == "down" || said && !enabled || len(i.Ports()) > 0 && !enabled
	})
}

package oracle

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// unmanaged: on a node that is not managed nothing is enforced and nothing is
// reported, once its handler has read that it is not; a change that is under way
// goes back.
type unmanaged struct{}

// Begun is finished: a request, or a transaction that was armed just before.
const unmanagedMargin = time.Minute

func (unmanaged) Name() string { return "unmanaged" }

func (unmanaged) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Applying:
		if t := f.Node(e.Node).asked; t == nil || t.Entry == nil {
			return nil
		}
		if since, is := f.knownUnmanaged(e); is {
			return fmt.Errorf("a change is applied, and it is not managed, which its handler has known for %s", since)
		}
	case Wrote:
		if what.Kind != "NodeNetworkState" || !what.Status || e.Node == "" {
			return nil
		}
		if role, _ := roleOf(what.Process); role != roleHandler {
			return nil
		}
		if nns := what.After.(*v1.NodeNetworkState); !isManaged(nns) && !saysSetAside(what) {
			if since, is := f.knownUnmanaged(e); is && since > unmanagedMargin && f.Calm(e.Node, f.Elapsed()-since, Stale|Hinders) {
				return fmt.Errorf("its state is reported, and it has not been managed for %s", since)
			}
		}
	}
	return nil
}

// saysSetAside tells of the write that says nothing but that the node is not managed:
// once of each generation, by a handler that was away when it is back. With it goes
// how a change ended that was told as running: a report that says so for ever is old
// content that no condition tells of (design §2, rule 11).
func saysSetAside(w Wrote) bool {
	old, had := w.Before.(*v1.NodeNetworkState)
	if !had {
		return false
	}
	before, after := old.Status, w.After.(*v1.NodeNetworkState).Status
	generation := w.After.GetGeneration()
	setAside := func(c v1.Condition) bool {
		return c.Type == v1.StateAvailable && c.Reason == v1.ReasonNotManaged && c.ObservedGeneration == generation
	}
	says := slices.ContainsFunc(after.Conditions, setAside) && !slices.ContainsFunc(before.Conditions, setAside)
	others := func(all []v1.Condition) []v1.Condition {
		return slices.DeleteFunc(slices.Clone(all), func(c v1.Condition) bool { return c.Type == v1.StateAvailable })
	}
	before.Conditions, after.Conditions = others(before.Conditions), others(after.Conditions)
	if before.Transaction.IsUnderWay() && !after.Transaction.IsUnderWay() {
		before.Transaction = after.Transaction
	}
	return says && equality.Semantic.DeepEqual(before, after)
}

// knownUnmanaged tells for how long the process has known that its node is not
// managed.
func (f *Facts) knownUnmanaged(e Event) (time.Duration, bool) {
	r, is := f.lastRead(e.Process, &v1.NodeNetworkState{}, e.Node, false)
	nns, there := r.object.(*v1.NodeNetworkState)
	if !is || !there || nns == nil || isManaged(nns) {
		return 0, false
	}
	since, is := f.unmanagedFor(e.Node)
	return since, is && since > unmanagedMargin/2
}

// unmanagedFor is how long the stored state has said so.
func (f *Facts) unmanagedFor(node string) (time.Duration, bool) {
	nns := f.state(node)
	if nns == nil || isManaged(nns) {
		return 0, false
	}
	return f.Elapsed() - f.Node(node).setAside, true
}

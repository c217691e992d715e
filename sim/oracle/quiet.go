package oracle

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// quiet: no write says nothing new; and when everything is done and nobody does anything, nothing is written and
// no host changes. A run in which something is tried again and again, as it says
// itself, has no quiet: the attempt may cut a node off, or succeed. Nor has one in which
// a node may yet be given up (rule patient). A node that
// waits for a lease may change when its server answers, at any time, and then it tells
// what it is, once for each change.
type quiet struct {
	revisions map[string]uint64
	restless  bool
	// waits are the nodes that wait for a lease, told the networks of those that they have
	// told of.
	waits map[string]bool
	told  map[string]uint64
}

func newQuiet() *quiet { return &quiet{} }

func (*quiet) Name() string { return "quiet" }

func (q *quiet) Observe(f *Facts, e Event) error {
	switch what := e.What.(type) {
	case Quiet:
		if !what.Over {
			q.begin(f)
			return nil
		}
		return q.end(f)
	case Wrote:
		role, _ := roleOf(what.Process)
		if role != roleOutside && saysNothing(what) {
			return fmt.Errorf("%s wrote %s %s, and nothing of it is new but the time", what.Process, what.Kind, what.Name)
		}
		if !f.quiet || q.restless || role == roleOutside || q.tellsOfLease(f, what) {
			return nil
		}
		return fmt.Errorf("%s wrote %s %s (%s %s), and nothing has happened", what.Process, what.Kind, what.Name, what.Verb, what.Subresource)
	}
	return nil
}

// tellsOfLease tells of the report of a node that waited for a lease, and whose network
// has changed since it reported the last time.
func (q *quiet) tellsOfLease(f *Facts, w Wrote) bool {
	if w.Kind != "NodeNetworkState" || !w.Status || !q.waits[w.Name] || f.Revision(w.Name) == q.told[w.Name] {
		return false
	}
	q.told[w.Name] = f.Revision(w.Name)
	return true
}

// saysNothing tells of a write of an enactment's status that it changes nothing but
// heartbeats.
func saysNothing(w Wrote) bool {
	before, had := w.Before.(*v1.NodeNetworkConfigurationEnactment)
	after, has := w.After.(*v1.NodeNetworkConfigurationEnactment)
	if !had || !has || !w.Status || w.Spec || w.Metadata {
		return false
	}
	a, b := before.Status, after.Status
	same := slices.EqualFunc(a.Conditions, b.Conditions, func(c, d v1.Condition) bool {
		c.LastHeartbeatTime, d.LastHeartbeatTime = metav1.Time{}, metav1.Time{}
		return c == d
	})
	a.Conditions, b.Conditions = nil, nil
	return same && equality.Semantic.DeepEqual(a, b)
}

func (q *quiet) begin(f *Facts) {
	q.revisions, q.told, q.waits = map[string]uint64{}, map[string]uint64{}, map[string]bool{}
	q.restless = f.readied > 0 && f.Elapsed()-f.readied < grantLag // It is told in this moment.
	q.restless = q.restless || f.hasPredecessor()
	for _, node := range f.Nodes() {
		q.restless = q.restless || f.willBeDead(node) || f.hasYetToReport(node)
		if f.IsTaken(node) {
			continue
		}
		q.restless = q.restless || !f.Has(node) || f.nodeRetries(node)
		q.revisions[node], q.told[node], q.waits[node] = f.Revision(node), f.Revision(node), f.waitsForLease(node)
	}
}

// waitsForLease tells of a link that asks for an address and has none.
func (f *Facts) waitsForLease(node string) bool {
	if !f.Has(node) {
		return false
	}
	return slices.ContainsFunc(f.Network(node).Interfaces(), func(i state.Interface) bool {
		asks := func(family state.Family) bool { return i.Dynamic(family) && len(i.Addresses(family)) == 0 }
		return i.State == "up" && (asks(state.IPv4) || asks(state.IPv6))
	})
}

func (q *quiet) end(f *Facts) error {
	for _, node := range sortedKeys(q.revisions) {
		if !q.restless && !q.waits[node] && f.Revision(node) != q.revisions[node] {
			return on(node, "its network has changed, and nobody has done anything")
		}
	}
	return nil
}

// nodeRetries tells whether something is tried again on a node.
func (f *Facts) nodeRetries(node string) bool {
	retried := false
	f.eachEnactment(func(e *v1.NodeNetworkConfigurationEnactment, of, _ string) {
		retried = retried || of == node && isRetried(e)
	})
	nns := f.state(node)
	if nns == nil || nns.Status.Transaction == nil {
		return retried
	}
	// Written by hand, or a removal.
	return retried || nns.Status.Transaction.RetryAfter != nil || driftIsPending(nns)
}

func driftIsPending(nns *v1.NodeNetworkState) bool {
	for _, d := range nns.Status.Drift {
		if d.Action != "Reported" {
			return true
		}
	}
	return false
}

func isRetried(e *v1.NodeNetworkConfigurationEnactment) bool {
	return e.Status.Retry != nil && e.Status.Retry.After != nil
}

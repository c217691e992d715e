package oracle

import (
	"fmt"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// quiet: when everything is done and nobody does anything, nothing is written and
// no host changes. A run in which something is tried again and again, as it says
// itself, has no quiet: the attempt may cut a node off, or succeed.
type quiet struct {
	revisions map[string]uint64
	restless  bool
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
		if !f.quiet || q.restless || role == roleOutside {
			return nil
		}
		return fmt.Errorf("%s wrote %s %s (%s %s), and nothing has happened", what.Process, what.Kind, what.Name, what.Verb, what.Subresource)
	}
	return nil
}

func (q *quiet) begin(f *Facts) {
	q.revisions, q.restless = map[string]uint64{}, false
	for _, node := range f.Nodes() {
		q.restless = q.restless || !f.Has(node) || f.nodeRetries(node)
		q.revisions[node] = f.Revision(node)
	}
}

func (q *quiet) end(f *Facts) error {
	for _, node := range sortedKeys(q.revisions) {
		if !q.restless && f.Revision(node) != q.revisions[node] {
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

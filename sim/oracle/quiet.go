package oracle

import (
	"fmt"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// quiet: when everything is done and nobody does anything, nothing is written and
// no host changes. What is tried again and again, as it says itself, is left out.
type quiet struct {
	revisions map[string]uint64
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
		if !f.quiet || role == roleOutside || f.retries(what) {
			return nil
		}
		return fmt.Errorf("%s wrote %s %s (%s %s), and nothing has happened", what.Process, what.Kind, what.Name, what.Verb, what.Subresource)
	}
	return nil
}

func (q *quiet) begin(f *Facts) {
	q.revisions = map[string]uint64{}
	for _, node := range f.Nodes() {
		if f.Has(node) {
			q.revisions[node] = f.Revision(node)
		}
	}
}

func (q *quiet) end(f *Facts) error {
	for _, node := range sortedKeys(q.revisions) {
		if f.Has(node) && f.Revision(node) != q.revisions[node] && !f.nodeRetries(node) {
			return on(node, "its network has changed, and nobody has done anything")
		}
	}
	return nil
}

// retries tells whether an object is about a node on which something is tried
// again.
func (f *Facts) retries(w Wrote) bool {
	switch o := w.object().(type) {
	case *v1.NodeNetworkState:
		return f.nodeRetries(o.Name)
	case *v1.NodeNetworkConfigurationEnactment:
		node, policy := nodeAndPolicy(o)
		return f.nodeRetries(node) || f.policyRetries(policy)
	case *v1.NodeNetworkConfigurationPolicy:
		return f.policyRetries(o.Name)
	}
	return false
}

// policyRetries tells whether a node tries the policy again: whether the others
// are aborted or wait depends on it.
func (f *Facts) policyRetries(policy string) bool {
	for _, node := range f.Nodes() {
		if e := f.enactment(node, policy); e != nil && isRetried(e) {
			return true
		}
	}
	return false
}

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

package agent

import (
	"reflect"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// noteFailure remembers the change that failed last, until the node's desired
// state is another one. What somebody writes over a policy's change, and leaves
// its sources, is no answer to whether that change works.
func (a *Agent) noteFailure(outcome txn.Outcome, last v1.Transaction) {
	committed := outcome.Result == v1.TransactionCommitted
	was := a.record.Failed
	over := was != nil && len(last.Sources) > 0 && slices.Equal(was.Last.Sources, last.Sources) && was.Change.Hash != outcome.Change.Hash
	switch {
	case outcome.Result == v1.TransactionSuperseded:
	case over && (committed || was.Last.Final):
	case committed:
		a.record.Failed = nil
	default:
		a.record.Failed = &journal.Failed{Change: outcome.Change, Last: last}
	}
}

// hasFailed tells whether the node's desired state is, in a newer generation, the
// change that failed last: somebody wrote it and it was put right, or the node was
// set aside and back. Tried at once it would be tried without the back-off, and
// where a probe was lost it would be another outage (design §2, rule 5). So the
// outcome is that of the newer generation, too, and who decides on the next attempt
// decides on it as before.
func (a *Agent) hasFailed(nns *v1.NodeNetworkState, hash string) (bool, error) {
	failed, last := a.record.Failed, a.record.Last
	if failed == nil {
		return false, nil
	}
	sources := v1.PlainSources(nns.Spec.Sources)
	switch {
	case nns.Generation < failed.Last.Generation:
		return false, nil // Read from a cache that is behind: it tells nothing of what is wanted now.
	case !slices.Equal(failed.Last.Sources, sources) || len(sources) == 0 && !a.isGuardedAs(nns, failed.Change, hash):
		a.record.Failed = nil
		return false, nil
	case failed.Change.Hash != hash:
		return false, nil // Somebody wrote over it: it may be put right.
	case last != nil && last.Generation == nns.Generation:
		return false, nil // As it was told.
	}
	again := failed.Last.DeepCopy()
	again.Generation = nns.Generation
	a.record.Last = again
	a.unreported = true
	a.poke()
	return true, a.store()
}

// isGuardedAs tells whether a desired state that was written by hand asks for the
// same as the change, guarded by the same: with other probes it is another change.
func (a *Agent) isGuardedAs(nns *v1.NodeNetworkState, change txn.Change, hash string) bool {
	now := a.guarded(nns, txn.Change{Hash: hash})
	return now.Hash == change.Hash && now.Window == change.Window && now.Confirm == change.Confirm &&
		now.DropDefaults == change.DropDefaults && reflect.DeepEqual(now.Probes, change.Probes)
}

package idle

import (
	"reflect"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// Failed is a change that failed, and how that was reported.
type Failed struct {
	Change txn.Change     `json:"change"`
	Last   v1.Transaction `json:"last"`
}

// meaning is what a change that failed means for what is wanted now.
type meaning int

const (
	// none: nothing, or nothing any more that was not told.
	none meaning = iota
	// answered: something else is wanted, so it may be forgotten.
	answered
	// renewed: what is wanted is that change, in a newer generation.
	renewed
)

// of tells what the change that failed last means for what is wanted. Where it is
// wanted in a newer generation, somebody wrote something else and it was put right, or
// the node was set aside and is back. Tried at once it would be tried without the
// back-off, and where a probe was lost it would be another outage (design §2, rule 5).
// So the outcome is that of the newer generation, too, and who decides on the next
// attempt decides on it as before.
func (f *Failed) of(wanted Wanted, last *v1.Transaction) meaning {
	if f == nil {
		return none
	}
	switch {
	case wanted.Change.Generation < f.Last.Generation:
		return none // Read from a cache that is behind: it tells nothing of what is wanted now.
	case !f.isOf(wanted):
		return answered
	case f.Change.Hash != wanted.Change.Hash:
		return none // Somebody wrote over it: it may be put right.
	case last != nil && last.Generation == wanted.Change.Generation:
		return none // As it was told.
	}
	return renewed
}

// isOf tells whether what is wanted comes from what the change that failed came from.
// Policies that change nothing here may have come or gone meanwhile: as long as the one
// that failed is what it was, the same state under the same guards fails as it did.
func (f *Failed) isOf(wanted Wanted) bool {
	sources := v1.PlainSources(wanted.Sources)
	if len(sources) > 0 && slices.Equal(f.Last.Sources, sources) {
		return true
	}
	i := slices.IndexFunc(f.Last.Sources, func(s v1.Source) bool { return s.Policy == f.Last.Policy })
	remains := len(f.Last.Sources) == 0 && len(sources) == 0 || i >= 0 && slices.Contains(sources, f.Last.Sources[i])
	return remains && guardedAlike(wanted.Change, f.Change)
}

// guardedAlike tells whether two desired states are the same, guarded by the same: with
// other probes it is another change.
func guardedAlike(a, b txn.Change) bool {
	return a.Hash == b.Hash && a.Window == b.Window && a.Confirm == b.Confirm &&
		a.DropDefaults == b.DropDefaults && reflect.DeepEqual(a.Probes, b.Probes)
}

// After is the change that failed last once another one has ended, and was reported as
// last. It is remembered until the node's desired state is another one. What somebody
// writes over a policy's change, and leaves its sources, is no answer to whether that
// change works.
func (f *Failed) After(outcome txn.Outcome, last v1.Transaction) *Failed {
	committed := outcome.Result == v1.TransactionCommitted
	over := f != nil && len(last.Sources) > 0 && slices.Equal(f.Last.Sources, last.Sources) && f.Change.Hash != outcome.Change.Hash
	switch {
	case outcome.Result == v1.TransactionSuperseded, over && (committed || f.Last.Final):
		return f
	case committed:
		return nil
	}
	return &Failed{Change: outcome.Change, Last: last}
}

// Interrupted is a change whose trial a crash, a reboot or a restart of
// NetworkManager ended.
type Interrupted struct {
	// Hash of the desired state, its sources, and how often in a row.
	Hash    string      `json:"hash"`
	Sources []v1.Source `json:"sources,omitempty"`
	Times   int         `json:"times"`
}

// After counts how often in a row a trial of the same change was ended from outside.
// One that was judged begins anew.
func (i *Interrupted) After(outcome txn.Outcome, sources []v1.Source) *Interrupted {
	switch {
	case outcome.Result == v1.TransactionRefused || outcome.Result == v1.TransactionSuperseded:
		return i
	case outcome.Interrupted:
		return &Interrupted{Hash: outcome.Change.Hash, Sources: sources, Times: outcome.Change.Interrupted + 1}
	}
	return nil
}

// Of is how often the change was interrupted so far.
func (i *Interrupted) Of(hash string, sources []v1.Source) int {
	if i == nil || i.Hash != hash || !slices.Equal(i.Sources, sources) {
		return 0
	}
	return i.Times
}

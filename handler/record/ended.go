package record

import (
	"slices"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// MaxAwaits is how many interfaces a change may wait for by name.
const MaxAwaits = 100

// Ended is a transaction that ended, and what was known as it did.
type Ended struct {
	Entry   journal.Entry
	Outcome txn.Outcome
	At      time.Time
	// Free: NetworkManager answers, and no checkpoint of somebody else is in the way.
	Free bool
	// Drift is what was found, Damping how it is met.
	Drift   idle.Drift
	Damping idle.Damping
	// Node and Backoff say how long a change that failed waits.
	Node    string
	Backoff idle.Backoff
}

// After is the record once the transaction has ended. The error says why nothing is known
// any more of what was there before the policies.
func (e Ended) After(before journal.Record) (after journal.Record, err error) {
	after = before
	after.History = remembered(before.History, e.past(before))
	if len(e.Entry.Correction) > 0 {
		after.Corrections = e.corrections(before)
		return after, nil
	}
	last := e.last(before)
	switch {
	case e.isCommitted():
		after, err = e.committed(after, true)
	case e.isOver(last):
		var again bool
		if after, again, err = e.kept(after); again {
			last.RetryAfter = idle.InSeconds(e.At)
		}
	}
	after.Last, after.Targets = &last, nil
	after.About = &journal.About{Generation: e.Outcome.Change.Generation, Hash: e.Outcome.Change.Hash}
	if !e.isCommitted() {
		after.Targets = e.Entry.Targets
	}
	after.Interrupted = before.Interrupted.After(e.Outcome, last.Sources)
	after.Failed = before.Failed.After(e.Outcome, last)
	return after, err
}

func (e Ended) isCommitted() bool { return e.Outcome.Result == v1.TransactionCommitted }

// last is the outcome as it is reported, with the time of the next attempt where the node
// decides that.
func (e Ended) last(before journal.Record) v1.Transaction {
	o := e.Outcome
	last := v1.Transaction{
		Generation: o.Change.Generation, Phase: string(txn.Idle), Since: *idle.InSeconds(e.Entry.Since),
		Policy: o.Change.Policy, Sources: v1.PlainSources(e.Entry.Sources), Result: o.Result, Final: o.Final,
		Message: idle.Message(o.Message), GuardedBy: o.GuardedBy, Awaits: o.Awaits[:min(len(o.Awaits), MaxAwaits)],
	}
	for _, line := range o.Differences {
		last.Differences = append(last.Differences, idle.Message(line))
	}
	if e.isCommitted() {
		last.NotVerified = idle.Lines(slices.Concat(e.Entry.NotVerified, e.Entry.ToCome))
	}
	return idle.Ending{Last: last, Removal: e.Entry.Removal, At: e.At, Node: e.Node, Backoff: e.Backoff}.After(before.Last)
}

// corrections of drift, with this one. One that is not wanted any more counts for nothing.
func (e Ended) corrections(before journal.Record) idle.Corrections {
	if e.Outcome.Result == v1.TransactionSuperseded {
		return before.Corrections
	}
	ended := idle.CorrectionEnded{Subjects: e.Entry.Correction, At: e.At, Lost: e.Outcome.Final}
	if !e.isCommitted() {
		ended.Message = idle.Message(e.Outcome.Message)
	}
	return before.Corrections.After(ended, e.Drift, e.Damping)
}

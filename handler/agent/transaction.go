package agent

import (
	"fmt"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// transaction is the one that runs, or waits to begin: where it stands, and what the journal
// and others know of it. What is open is in the journal before anything is done about it.
type transaction struct {
	txn.State
	// entry is what the journal holds of it, or will. It stays when the transaction ends.
	entry journal.Entry
	// telling is what others were told of it while it runs.
	telling telling
	// waiting is what they are told before it begins, where a checkpoint of somebody else
	// is in its way; nil for none.
	waiting *v1.Transaction
}

// hear takes what came with an event.
func (t *transaction) hear(l letter) {
	if l.entry != nil {
		t.entry = *l.entry
	}
	if l.toCome != nil {
		t.entry.ToCome = *l.toCome
	}
	t.entry.NotVerified = append(t.entry.NotVerified, l.notVerified...)
}

// step takes an event, writes the journal, and returns what is to be done. Where the
// journal cannot be written to, nothing begins. Once it has begun, the older entry is still
// there and leads back just as well: it goes on, and the error says so.
func (t *transaction) step(e txn.Event, now func() time.Time, save func(journal.Entry) error) (effects []txn.Effect, old error) {
	before := t.State
	next, effects := txn.Step(before, e)
	_, seen := e.(txn.Seen) // Of the entry, not of where the transaction stands.
	if next.Open() && (seen || worthWriting(before, next)) {
		t.entry.Transaction = next
		_, recovering := e.(txn.Recovered)
		begins := before.Phase == txn.Probing && next.Phase == txn.Committing // Nothing on disk that the journal does not know.
		switch err := save(t.entry); {
		case err == nil:
		case recovering || before.Open() && !begins:
			old = err
		default:
			before.Intact = next.Intact // That is so all the same.
			next, effects = txn.Step(before, txn.NotArmed{Cause: txn.Cause{Message: err.Error()}})
		}
	}
	if !before.Running() && next.Running() {
		t.telling = telling{Telling: txn.NewTelling(now())}
	}
	t.State = next
	return effects, old
}

// worthWriting leaves out what recovery does not need to know.
func worthWriting(before, next txn.State) bool {
	return before.Phase != next.Phase || before.Checkpoint != next.Checkpoint ||
		before.Lost != next.Lost || before.Restored != next.Restored || before.Reverted != next.Reverted ||
		before.LastResort != next.LastResort
}

// about is the change that runs, or that ran last.
func (t *transaction) about() txn.Change {
	if t.Running() {
		return t.Change
	}
	return t.entry.Transaction.Change
}

// running is the transaction that runs, as it is reported. Of the trial's state
// nothing is: it may not last.
func (t *transaction) running(last *v1.Transaction, node string) *v1.Transaction {
	now, change := t.Progress(), t.Change
	told := &v1.Transaction{
		Generation: change.Generation, Phase: string(now.Phase), Since: *idle.InSeconds(t.entry.Since),
		Policy: change.Policy, Sources: v1.PlainSources(t.entry.Sources), GuardedBy: t.Guards, WaitingFor: now.Waiting,
	}
	if last != nil && last.Generation == change.Generation {
		told.Attempts = last.Attempts
	}
	switch {
	case t.AwaitsConfirmation():
		told.Message = fmt.Sprintf("waiting for confirmation until %s: %s", t.Until.UTC().Format("15:04:05Z"), t.howToConfirm(node))
	case t.Cause != nil:
		told.Message = idle.Message("taking the change back: " + t.Cause.Message)
	case len(t.entry.Correction) > 0:
		told.Message = idle.Message("putting right what has drifted: " + strings.Join(t.entry.Correction, ", "))
	}
	return told
}

// toTell is the transaction to report: the one that runs once others may know of it, otherwise
// the last one. What an earlier process left stays as it was told until it is
// taken on.
func (t *transaction) toTell(record *ledger, reportedLast *v1.Transaction, node string) *v1.Transaction {
	if t.waiting != nil {
		return t.waiting.DeepCopy()
	}
	last, entry := record.Last, &t.entry
	if record.left.entry != nil {
		entry = record.left.entry
	}
	// How it ended may be on the disk, and the power have gone before its entry was closed.
	recorded := last != nil && last.Generation == entry.Transaction.Change.Generation && last.Since.Equal(idle.InSeconds(entry.Since))
	switch {
	case recorded:
	case t.Running() && t.telling.IsTried():
		return t.running(last, node)
	case record.left.entry != nil && reportedLast.IsUnderWay() && reportedLast.Since.Equal(idle.InSeconds(record.left.entry.Since)):
		return reportedLast
	}
	return record.Last.DeepCopy()
}

// howToConfirm is the command for the object that a person wrote: the policy,
// or the node's own desired state.
func (t *transaction) howToConfirm(node string) string {
	for _, source := range t.entry.Sources {
		if source.Policy == t.Change.Policy {
			return annotate("nncp", source.Policy, source.Generation)
		}
	}
	return annotate("nns", node, t.Change.Generation)
}

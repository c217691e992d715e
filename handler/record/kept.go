package record

import (
	"fmt"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// removalAttempts is how often a removal is tried, and how long the other policies of the
// node wait for it.
const removalAttempts = 5

// MayBeInVain tells of a removal that has failed often enough. Nobody is left who could mend
// it, and each later change of the node would fail with it; so it is over where the node is
// Free. As long as no change could be made there at all, it is tried on.
func (e Ended) MayBeInVain(before journal.Record) bool {
	return e.Entry.Removal && !e.isCommitted() && !e.Outcome.Final && e.last(before).Attempts >= removalAttempts
}

// isOver tells of a removal that is not tried again as it was.
func (e Ended) isOver(last v1.Transaction) bool {
	return e.Entry.Removal && (e.Outcome.Final || e.Free && last.Attempts >= removalAttempts)
}

// kept is the record once a removal has failed for good: trying again would be another
// outage, or in vain, so the configuration stays on the node and nobody owns it any more.
// Where it was an undo, another attempt is to be made at once: the one without the undo,
// which may still have something to change.
func (e Ended) kept(record journal.Record) (after journal.Record, again bool, err error) {
	what := "removal"
	if e.Entry.Undo {
		what = "undo"
	}
	if hash := e.Outcome.Change.Hash; !IsKept(record, hash) {
		record.Kept = &journal.Kept{Hash: hash, Message: idle.Message(fmt.Sprintf(
			"%s of policy %s: %s; its configuration stays, as with onDelete: Retain",
			what, strings.Join(e.leaving(record), ", "), e.Outcome.Message))}
	}
	if e.Entry.Undo {
		return record, true, nil
	}
	// Nothing was applied: what was there before the rest of it is known still.
	e.Entry.Before = nil
	after, err = e.committed(record, false)
	return after, false, err
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
)

// ledger is what outlives a transaction, and who has it: the disk and the API server.
// Nothing begins before the disk does.
type ledger struct {
	journal.Record
	closing closing
	// untold: it holds an outcome that the API server was not told.
	untold bool
	// left is what an earlier process left, until Recover takes it on.
	left leftover
}

// closing is what is left to be done before the journal is closed.
type closing int

// Nothing; to store how the transaction ended; before that, to flush what a way back that
// was given up has left on the node.
const (
	stored closing = iota
	unstored
	unflushed
)

// leftover is what an earlier process left.
type leftover struct {
	// entry is what it left open.
	entry *journal.Entry
	// blind is what of the journal cannot be read and was not set aside yet.
	blind struct{ entry, record bool }
}

// is tells whether there is something for Recover to do.
func (l leftover) is() bool { return l.entry != nil || l.isBlind() }

func (l leftover) isBlind() bool { return l.blind.entry || l.blind.record }

// load reads the journal. What cannot be read ends no handler: the node goes on with what
// there is to go by. Another error may be over the next time. An entry that is over, and
// was only not closed, is returned.
func (l *ledger) load(from journal.Journal, now time.Time) (over *journal.Entry, err error) {
	var messages []string
	if l.Record, err = from.Record(); errors.Is(err, journal.ErrUnreadable) {
		l.Record, l.left.blind.record = journal.Record{}, true
		messages = append(messages, err.Error()+"; what the node had committed is not known any more")
	} else if err != nil {
		return nil, err
	}
	if l.left.entry, err = from.Load(); errors.Is(err, journal.ErrUnreadable) {
		l.left.entry, l.left.blind.entry = nil, true
		messages = append(messages, err.Error())
	} else if err != nil {
		return nil, err
	}
	if l.left.entry != nil && record.Concludes(l.Record, *l.left.entry) {
		over, l.left.entry, l.closing = l.left.entry, nil, unstored
	}
	if len(messages) > 0 {
		l.Unread = &journal.Unread{At: now, Message: strings.Join(messages, "; ")}
	}
	l.untold = l.Last != nil
	return over, nil
}

// end has it say how a transaction ended, which neither the disk nor the API server has.
func (l *ledger) end(next journal.Record, first closing) {
	l.Record, l.closing, l.untold = next, first, true
}

// isSettled tells whether all of it is where it is to be.
func (l *ledger) isSettled() bool { return !l.left.is() && !l.untold && l.closing == stored }

// write closes the journal, unless it is.
func (l *ledger) write(to journal.Journal) error {
	if l.closing == stored {
		return nil
	}
	if err := to.Close(l.Record); err != nil {
		return err
	}
	l.closing = stored
	return nil
}

// tellUnread is how long a journal that could not be read is told of: the next
// change may come at once, and nobody would have seen it.
const tellUnread = 24 * time.Hour

// unread is what to tell of a journal that could not be read.
func (l *ledger) unread(now time.Time) string {
	if l.Unread == nil || now.Sub(l.Unread.At) > tellUnread {
		return ""
	}
	return l.Unread.Message
}

// closeJournal stores how the transaction ended, where that could not be done
// at once (a full disk), and tells whether it is stored. Until then nothing new
// begins: a handler that finds the entry open takes back what was committed.
func (a *Agent) closeJournal(ctx context.Context) bool {
	if err := a.storeOutcome(ctx); err != nil {
		logf.FromContext(ctx).Error(err, "cannot close the journal", "retry after", idle.CloseRetry)
		return false
	}
	return true
}

// store writes the record down, now or, where that fails, before anything else begins:
// what only the memory has, the next handler does not know.
func (a *Agent) store(ctx context.Context) error {
	a.record.closing = max(a.record.closing, unstored)
	return a.storeOutcome(ctx)
}

// storeOutcome closes the journal, unless it is. What a way back that was given up has left
// on the node is on disk for certain before that: then nobody looks after it any more, and
// the next change flushes its own files only.
func (a *Agent) storeOutcome(ctx context.Context) error {
	if a.record.closing == unflushed {
		if left := a.flush(ctx, a.txn.entry); len(left) > 0 {
			return fmt.Errorf("what the way back left on the node may not outlast a power cut: %s", strings.Join(left, "; "))
		}
		a.record.closing = unstored
	}
	return a.record.write(a.Journal)
}

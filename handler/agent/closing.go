package agent

import (
	"context"
	"fmt"
	"strings"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/idle"
)

// closing is what is left to be done before the journal is closed.
type closing int

// Nothing; to store how the transaction ended; before that, to flush what a way back that
// was given up has left on the node.
const (
	stored closing = iota
	unstored
	unflushed
)

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
	a.closing = max(a.closing, unstored)
	return a.storeOutcome(ctx)
}

// storeOutcome closes the journal, unless it is. What a way back that was given up has left
// on the node is on disk for certain before that: then nobody looks after it any more, and
// the next change flushes its own files only.
func (a *Agent) storeOutcome(ctx context.Context) error {
	if a.closing == unflushed {
		if left := a.flush(ctx, a.entry); len(left) > 0 {
			return fmt.Errorf("what the way back left on the node may not outlast a power cut: %s", strings.Join(left, "; "))
		}
		a.closing = unstored
	}
	if a.closing == stored {
		return nil
	}
	if err := a.Journal.Close(a.record); err != nil {
		return err
	}
	a.closing = stored
	return nil
}

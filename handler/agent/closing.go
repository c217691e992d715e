package agent

import (
	"context"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/idle"
)

// closeJournal stores how the transaction ended, where that could not be done
// at once (a full disk), and tells whether it is stored. Until then nothing new
// begins: a handler that finds the entry open takes back what was committed.
func (a *Agent) closeJournal(ctx context.Context) bool {
	if err := a.storeOutcome(); err != nil {
		logf.FromContext(ctx).Error(err, "cannot close the journal", "retry after", idle.CloseRetry)
		return false
	}
	return true
}

// store writes the record down, now or, where that fails, before anything else begins:
// what only the memory has, the next handler does not know.
func (a *Agent) store() error {
	a.unclosed = true
	return a.storeOutcome()
}

// storeOutcome closes the journal, unless it is.
func (a *Agent) storeOutcome() error {
	if !a.unclosed {
		return nil
	}
	err := a.Journal.Close(a.record)
	a.unclosed = err != nil
	return err
}

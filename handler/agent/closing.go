package agent

import (
	"context"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// closeRetry is how soon a journal that could not be closed is tried again.
const closeRetry = 5 * time.Second

// closeJournal stores how the transaction ended, where that could not be done
// at once (a full disk), and tells whether it is stored. Until then nothing new
// begins: a handler that finds the entry open takes back what was committed.
func (a *Agent) closeJournal(ctx context.Context) bool {
	if !a.unclosed {
		return true
	}
	if err := a.Journal.Close(a.record); err != nil {
		logf.FromContext(ctx).Error(err, "cannot close the journal", "retry after", closeRetry)
		return false
	}
	a.unclosed = false
	return true
}

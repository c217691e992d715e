package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// tellAttempt bounds each attempt to tell of the running transaction.
const tellAttempt = 2 * time.Second

// telling is about the running transaction. An attempt goes on beside the turns:
// the change may have cut the API server off, and nothing of it waits for that.
type telling struct {
	txn.Telling

	// answer of the attempt under way; nil while there is none. Cancel ends it.
	answer chan answer
	cancel context.CancelFunc
}

// answer of an attempt: what was written, nil where there was nothing to write.
type answer struct {
	written *v1.NodeNetworkState
	err     error
}

// tellRunning has the transaction that runs told where that is due, and returns how long
// until it is; zero where it is not, or an attempt is under way.
func (a *Agent) tellRunning(ctx context.Context) time.Duration {
	now := a.Clock.Now()
	a.txn.telling.Telling = a.txn.telling.See(a.txn.Progress(), now)
	if a.Client == nil || a.txn.telling.answer != nil {
		return 0
	}
	wait, due := a.txn.telling.Due(now)
	if !due || wait > 0 {
		return wait
	}
	a.txn.telling.Telling = a.txn.telling.Try(now)
	what, ours, answers := a.running(), a.reported.written, make(chan answer, 1)
	attempt, cancel := deadline.After(context.WithoutCancel(ctx), a.Clock, tellAttempt)
	a.txn.telling.answer, a.txn.telling.cancel = answers, cancel
	a.Spawn(func() {
		defer cancel()
		written, err := a.write(attempt, what, ours)
		answers <- answer{written, err}
		a.poke()
	})
	return 0
}

// hear takes the answer of the last attempt, if it is there.
func (a *Agent) hear(ctx context.Context) {
	select {
	case got := <-a.txn.telling.answer:
		a.txn.telling.answer = nil
		switch {
		case got.err != nil && !a.txn.Running():
			return // It has ended meanwhile, which is reported instead.
		case got.err != nil:
			logf.FromContext(ctx).Info("the running change cannot be reported now", "phase", a.txn.telling.Tried.Phase, "waitingFor", a.txn.telling.Tried.Waiting, "cause", got.err.Error())
			return
		case got.written != nil && isNewer(got.written, a.reported.written):
			a.reported.written = got.written
		}
		a.txn.telling.Telling = a.txn.telling.Told()
	default:
	}
}

// write brings status.transaction up to date. Where somebody has written the object
// since, it fails: an outcome that was reported meanwhile must stay.
func (a *Agent) write(ctx context.Context, what *v1.Transaction, ours *v1.NodeNetworkState) (*v1.NodeNetworkState, error) {
	nns, err := a.nodeState(ctx)
	if err != nil || nns == nil || !managed(nns) {
		return nil, err
	}
	base := newest(nns, ours)
	if equality.Semantic.DeepEqual(base.Status.Transaction, what) {
		return nil, nil
	}
	written := base.DeepCopy()
	written.Status.Transaction = what
	if err := a.Client.Status().Patch(ctx, written, patch.Since{Read: base}); err != nil {
		return nil, err
	}
	return written, nil
}

// running is the transaction that runs, as it is reported. Of the trial's state
// nothing is: it may not last.
func (a *Agent) running() *v1.Transaction {
	now, change := a.txn.Progress(), a.txn.Change
	t := &v1.Transaction{
		Generation: change.Generation, Phase: string(now.Phase), Since: *idle.InSeconds(a.txn.entry.Since),
		Policy: change.Policy, Sources: v1.PlainSources(a.txn.entry.Sources), GuardedBy: a.txn.Guards, WaitingFor: now.Waiting,
	}
	if last := a.record.Last; last != nil && last.Generation == change.Generation {
		t.Attempts = last.Attempts
	}
	switch {
	case a.txn.AwaitsConfirmation():
		t.Message = fmt.Sprintf("waiting for confirmation until %s: %s", a.txn.Until.UTC().Format("15:04:05Z"), a.howToConfirm())
	case a.txn.Cause != nil:
		t.Message = idle.Message("taking the change back: " + a.txn.Cause.Message)
	case len(a.txn.entry.Correction) > 0:
		t.Message = idle.Message("putting right what has drifted: " + strings.Join(a.txn.entry.Correction, ", "))
	}
	return t
}

// toTell is the transaction to report: the one that runs once others may know of it, otherwise
// the last one. What an earlier process left stays as it was told until it is
// taken on.
func (a *Agent) toTell(reportedLast *v1.Transaction) *v1.Transaction {
	if a.txn.waiting != nil {
		return a.txn.waiting.DeepCopy()
	}
	last, entry := a.record.Last, &a.txn.entry
	if a.record.left.entry != nil {
		entry = a.record.left.entry
	}
	// How it ended may be on the disk, and the power have gone before its entry was closed.
	recorded := last != nil && last.Generation == entry.Transaction.Change.Generation && last.Since.Equal(idle.InSeconds(entry.Since))
	switch {
	case recorded:
	case a.txn.Running() && a.txn.telling.IsTried():
		return a.running()
	case a.record.left.entry != nil && reportedLast.IsUnderWay() && reportedLast.Since.Equal(idle.InSeconds(a.record.left.entry.Since)):
		return reportedLast
	}
	return a.record.Last.DeepCopy()
}

// isNewer tells whether an object is a newer one than another of the same name,
// which may be nil.
func isNewer(object, than *v1.NodeNetworkState) bool {
	if than == nil || than.UID != object.UID {
		return true
	}
	newer, err := resourceversion.CompareResourceVersion(object.ResourceVersion, than.ResourceVersion)
	return err == nil && newer > 0
}

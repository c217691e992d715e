package agent

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
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
	what, ours, answers := a.txn.running(a.record.Last, a.Node), a.reported.written, make(chan answer, 1)
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

// isNewer tells whether an object is a newer one than another of the same name,
// which may be nil.
func isNewer(object, than *v1.NodeNetworkState) bool {
	if than == nil || than.UID != object.UID {
		return true
	}
	newer, err := resourceversion.CompareResourceVersion(object.ResourceVersion, than.ResourceVersion)
	return err == nil && newer > 0
}

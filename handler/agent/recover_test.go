package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// stuck never comes to commit.
type stuck struct{ backend.Backend }

func (stuck) Commit(ctx context.Context, _ backend.Checkpoint) error {
	<-ctx.Done()
	return ctx.Err()
}

// reticent does not tell its checkpoints when it is asked the first time.
type reticent struct {
	backend.Backend
	asked *atomic.Int32
}

func (r reticent) Pending(ctx context.Context) ([]backend.Pending, error) {
	if r.asked.Add(1) == 1 {
		return nil, errors.New("no connection to D-Bus")
	}
	return r.Backend.Pending(ctx)
}

func TestACheckpointThatNobodyTellsOfIsNotTakenForGone(t *testing.T) {
	n := newNode(t)
	_, kill := n.handler(func(o *Options) { o.Backend = stuck{o.Backend} })
	n.want(2, "p", "br0")
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	n.until("the change is proven", func() bool {
		open, err := files.Load()
		return err == nil && open != nil && open.Transaction.Proven
	})
	kill()
	n.handler(func(o *Options) { o.Backend = reticent{o.Backend, &atomic.Int32{}} })
	if got := n.outcome(2); got.Result != v1.TransactionCommitted || !n.host.has("br0") {
		t.Errorf("outcome %+v, br0 there: %v; want its commit done again", got, n.host.has("br0"))
	}
	if pending, _ := n.host.Pending(t.Context()); len(pending) > 0 {
		t.Errorf("the checkpoint %v is still alive: it will take back what was committed", pending)
	}
}

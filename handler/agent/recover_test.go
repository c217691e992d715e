package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
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
	n.untilProven(t)
	kill()
	n.handler(func(o *Options) { o.Backend = reticent{o.Backend, &atomic.Int32{}} })
	if got := n.outcome(2); got.Result != v1.TransactionCommitted || !n.host.has("br0") {
		t.Errorf("outcome %+v, br0 there: %v; want its commit done again", got, n.host.has("br0"))
	}
	if pending, _ := n.host.Pending(t.Context()); len(pending) > 0 {
		t.Errorf("the checkpoint %v is still alive: it will take back what was committed", pending)
	}
}

// mute is a NetworkManager that does not answer.
type mute struct{ backend.Backend }

func (mute) Instance(context.Context) (string, error) { return "", backend.ErrUnavailable }

func TestANodeWithAChangeThatAnEarlierProcessLeftIsNotToldToBeAtItsCommittedState(t *testing.T) {
	n := newNode(t)
	_, kill := n.handler(func(o *Options) { o.Backend = stuck{o.Backend} })
	n.want(2, "p", "br0")
	n.until("the change is in place", func() bool { return n.host.has("br0") })
	kill()
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 3, v1.NodeNetworkStateSpec{} })
	a, _ := n.handler(func(o *Options) { o.Backend = mute{o.Backend} })
	if _, err := a.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := n.get().Status.ObservedGeneration; got == 3 {
		t.Error("generation 3 is told as reached while br0 is there: its slot would be given away")
	}
}

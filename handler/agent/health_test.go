package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// held is a node with an apply under way that ends when release is called, or
// when it is killed.
func held(t *testing.T) (n *node, a *Agent, release func()) {
	t.Helper()
	n = newNode(t)
	hold := make(chan struct{})
	n.host.hold = hold
	a, _ = n.handler()
	n.want(2, "p", "br0")
	n.until("the apply is under way", func() bool { return n.host.count() == 1 })
	return n, a, func() { close(hold) }
}

func ending(t *testing.T, a *Agent, patience time.Duration) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- a.End(t.Context(), patience) }()
	return ended
}

func TestAHandlerThatIsToEndLetsItsTransactionEndAndBeginsNone(t *testing.T) {
	t.Parallel()
	n, a, release := held(t)
	ended := ending(t, a, time.Hour)
	n.until("it is ending", func() bool { return a.Ready() != nil })
	release()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := n.get().Status.Transaction; got == nil || got.Result != v1.TransactionCommitted || !n.host.has("br0") {
		t.Errorf("told when it ended: %+v", got)
	}
	n.want(3, "p", "br0", "br1")
	a.poke()
	for range 5 {
		if _, err := a.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if n.host.count() != 1 {
		t.Error("another change was begun")
	}
}

func TestAHandlerThatIsToEndTakesBackWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	n, a, _ := held(t)
	if err := <-ending(t, a, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	got := n.get().Status.Transaction
	if got == nil || got.Result != v1.TransactionSuperseded || got.Message != "the handler was ended before the change was proven" {
		t.Errorf("told when it ended: %+v", got)
	}
	if n.host.has("br0") {
		t.Error("the change is still there")
	}
	if left, err := a.Journal.Load(); err != nil || left != nil {
		t.Errorf("the journal is open: %+v, %v", left, err)
	}
}

func TestTheNextHandlerAppliesWhatTheLastOneTookBack(t *testing.T) {
	t.Parallel()
	n, a, _ := held(t)
	if err := <-ending(t, a, 0); err != nil {
		t.Fatal(err)
	}
	n.host.mu.Lock()
	n.host.hold = nil
	n.host.mu.Unlock()
	n.handler()
	if got := n.outcome(2); got.Result != v1.TransactionCommitted || !n.host.has("br0") {
		t.Errorf("outcome: %+v", got)
	}
}

func TestAHandlerWithoutATransactionEndsAtOnce(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler()
	n.until("the node is reported", func() bool { return a.Ready() == nil })
	if err := a.End(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	if a.Ready() == nil {
		t.Error("it is ready for more")
	}
}

func TestAHandlerWhoseTimeIsOverSaysWhatItLeaves(t *testing.T) {
	t.Parallel()
	_, a, release := held(t)
	defer release()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.End(over, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := a.Journal.Load(); err != nil || left == nil || left.Transaction.Phase != txn.Applying {
		t.Errorf("the journal says %+v, %v", left, err)
	}
}

func TestLivenessIsThatTurnsEndAndReadinessThatTheNodeWasReported(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	stuck, begun := make(chan struct{}), make(chan struct{}, 1)
	a, _ := n.handler(func(o *Options) {
		o.Client = interceptor.NewClient(n.api, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
				select {
				case begun <- struct{}{}:
				default:
				}
				<-stuck
				return c.Get(ctx, key, object, opts...)
			},
		})
	})
	<-begun
	if err := a.Alive(time.Hour); err != nil {
		t.Error(err)
	}
	n.until("a turn takes longer than nothing", func() bool { return a.Alive(0) != nil })
	if a.Ready() == nil {
		t.Error("ready before anything was reported")
	}
	close(stuck)
	n.until("it is ready", func() bool { return a.Ready() == nil })
	if n.get() == nil || n.get().Status.CurrentState.IsZero() {
		t.Error("ready without a report")
	}
}

package agent

import (
	"context"
	"errors"
	"testing"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// unread is a host that cannot be read while err is set.
type unread struct {
	backend.Backend
	err error
}

func (u *unread) Show(ctx context.Context) (state.State, error) {
	if u.err != nil {
		return state.State{}, u.err
	}
	return u.Backend.Show(ctx)
}

func TestWhatCouldNotBeReadIsReadAgainThoughNothingElseAsksForIt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	host := &unread{n.host, errors.New("no connection to D-Bus")}
	a, err := New(Options{
		Node: "node1", Client: n.api, Live: n.api, Backend: host, Prober: probes{host: n.host}, Journal: files,
		Boot: n.boot, Clock: deadline.On(clock.RealClock{}), Spawn: func(func()) {}, Window: fakeWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	turn := func() reconcile.Result {
		t.Helper()
		result, err := a.Reconcile(t.Context(), reconcile.Request{})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	turn() // It makes the NodeNetworkState.
	if got := turn(); got.RequeueAfter == 0 || !n.get().Status.CurrentState.IsZero() {
		t.Errorf("nothing was read, and the next turn is %+v", got)
	}
	host.err = nil
	if got := turn(); got.RequeueAfter != 0 || n.get().Status.CurrentState.IsZero() {
		t.Errorf("the network was read, and the next turn is %+v", got)
	}
}

// TestAnOutcomeIsNotPutTogetherOfTwo: a handler that has just started is shown the
// NodeNetworkState as it was an outcome ago.
func TestAnOutcomeIsNotPutTogetherOfTwo(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.refuse = errors.New("no")
	_, kill := n.handler()
	n.want(2, "p", "br0")
	n.outcome(2)
	old := n.get()
	n.host.mu.Lock()
	n.host.refuse = nil
	n.host.mu.Unlock()
	n.want(3, "p", "br1")
	n.outcome(3)
	kill()

	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	record := n.record()
	record.Last = &v1.Transaction{Generation: 4, Phase: "Idle", Policy: "p", Result: v1.TransactionRefused, Message: old.Status.Transaction.Message}
	if err := files.Close(record); err != nil {
		t.Fatal(err)
	}
	n.want(4, "p", "br2")
	a, err := New(Options{
		Node: "node1", Client: n.api, Live: n.api, Backend: n.host, Prober: probes{host: n.host}, Journal: files,
		Boot: n.boot, Clock: deadline.On(clock.RealClock{}), Spawn: func(func()) {}, Window: fakeWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	is := false
	n.edit(func(nns *v1.NodeNetworkState) { nns.Spec.Managed = &is })
	if err := a.report(t.Context(), old); err != nil || n.get().Status.Transaction.Generation == 4 {
		t.Errorf("a node that nobody manages reports, %v", err)
	}
	n.edit(func(nns *v1.NodeNetworkState) { nns.Spec.Managed = nil })
	if err := a.report(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if got := n.get().Status.Transaction; got.Generation != 4 || got.Result != v1.TransactionRefused {
		t.Errorf("generation %d is told as %s", got.Generation, got.Result)
	}
}

package agent

import (
	"context"
	"errors"
	"testing"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

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
	n := newNode(t)
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	host := &unread{n.host, errors.New("no connection to D-Bus")}
	a, err := New(Options{
		Node: "node1", Client: n.api, Live: n.api, Backend: host, Prober: probes{n.host}, Journal: files,
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

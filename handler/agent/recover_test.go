package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
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
	t.Parallel()
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
	t.Parallel()
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

func TestWhoseCheckpointItIs(t *testing.T) {
	t.Parallel()
	const life = 150 * time.Second // 2 minutes for the probes, and the margin.
	change := txn.Change{Window: 2 * time.Minute}
	unnamed := journal.Entry{ArmedBoot: time.Hour, Transaction: txn.State{Change: change}}
	named := journal.Entry{ArmedBoot: time.Hour, Transaction: txn.State{Change: change, Checkpoint: "/1"}}
	made := func(after, life time.Duration) backend.Pending {
		return backend.Pending{Checkpoint: "/1", CreatedBoot: time.Hour + after, RollbackAfter: life}
	}
	for name, test := range map[string]struct {
		entry   journal.Entry
		pending backend.Pending
		// age of the checkpoint.
		age  time.Duration
		ours bool
	}{
		"the one that the journal names":                                        {named, made(time.Second, life), time.Second, true},
		"the one that the journal names, renewed":                               {named, made(time.Second, 2*life), life + time.Second, true},
		"another one than the journal names":                                    {named, backend.Pending{Checkpoint: "/2", CreatedBoot: time.Hour, RollbackAfter: life}, time.Second, false},
		"one without a name that was made after the journal was opened":         {unnamed, made(time.Second, life), 2 * time.Second, true},
		"one that was made before the journal was opened":                       {unnamed, made(-time.Second, life), 2 * time.Second, false},
		"one that was renewed by as much as it is old":                          {unnamed, made(time.Second, life+time.Minute), time.Minute, true},
		"one that a slow apply has renewed again and again":                     {unnamed, made(time.Second, 3*life), 2 * life, true},
		"one that lives shorter":                                                {unnamed, made(time.Second, time.Minute), time.Second, false},
		"one that never ends":                                                   {unnamed, made(time.Second, 0), time.Second, false},
		"one that lives somewhat longer, and is too young to have been renewed": {unnamed, made(time.Second, life+time.Minute), 2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := isOurs(test.pending, test.entry, test.pending.CreatedBoot+test.age); got != test.ours {
				t.Errorf("ours: %v, want %v", got, test.ours)
			}
		})
	}
}

// renewed is a NetworkManager that was started anew, in which somebody else has
// made a checkpoint: its first one, as ours was.
type renewed struct{ backend.Backend }

func (renewed) Instance(context.Context) (string, error) { return "another", nil }

func (r renewed) Rollback(context.Context, backend.Checkpoint) error {
	panic("somebody else's checkpoint is rolled back")
}

func TestACheckpointOfAnotherNetworkManagerIsNotOurs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.hold = make(chan struct{})
	_, kill := n.handler()
	n.want(2, "p", "br0")
	n.until("the change is in place", func() bool { return n.host.has("br0") })
	kill()
	a, _ := n.handler(func(o *Options) { o.Backend = renewed{o.Backend} })
	n.until("it was taken back", func() bool { return !a.Busy() })
	if n.host.has("br0") {
		t.Error("br0 is still there")
	}
}

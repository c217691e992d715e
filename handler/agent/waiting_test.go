package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

func TestAChangeWaitsForACheckpointOfSomebodyElseAndThatIsNoFailure(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.host.mu.Lock()
	n.host.checkpoint = "/theirs" // It never expires.
	n.host.mu.Unlock()
	a, _ := n.handler()
	n.want(2, "p", "br0")
	n.until("the change is told as waiting", func() bool {
		nns := n.get()
		return nns != nil && nns.Status.Transaction != nil && nns.Status.Transaction.Phase == v1.PhaseWaiting
	})
	waiting := n.get().Status.Transaction
	if !strings.Contains(waiting.Message, "/theirs") || waiting.Policy != "p" || waiting.Generation != 2 || waiting.Attempts != 0 || n.host.has("br0") {
		t.Fatalf("waiting: %+v", waiting)
	}
	n.host.mu.Lock()
	n.host.checkpoint = ""
	n.host.mu.Unlock()
	a.poke()
	got := n.outcome(2)
	if got.Result != v1.TransactionCommitted || !got.Since.Equal(&waiting.Since) {
		t.Errorf("outcome = %+v, and it has waited since %s", got, waiting.Since)
	}
}

// A checkpoint that nobody knows of may take away what the node has now.
func TestNothingIsCommittedWithoutATrialAsLongAsTheCheckpointsAreNotKnown(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler()
	n.want(2, "p", "br0", "br1")
	n.outcome(2)
	n.host.answer(errors.New("no connection to D-Bus"))
	n.want(3, "p", "br0")
	n.until("the change is told as waiting", func() bool { return n.get().Status.Transaction.Phase == v1.PhaseWaiting })
	if waiting := n.get().Status.Transaction; !strings.Contains(waiting.Message, "does not tell its checkpoints: no connection to D-Bus") || waiting.Generation != 3 {
		t.Errorf("waiting: %+v", waiting)
	}
	n.host.answer(nil)
	a.poke()
	if got := n.outcome(3); got.Result != v1.TransactionCommitted {
		t.Errorf("outcome = %+v", got)
	}
}

func TestUntilWhenACheckpointIsWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pending []backend.Pending
		look    time.Duration
		message string
	}{
		"it never ends": {
			[]backend.Pending{{Checkpoint: "/1"}}, checkpointLook,
			"waiting for NetworkManager's checkpoint /1, which lives until whoever made it ends it; somebody else made it",
		},
		"it ends in a minute": {
			[]backend.Pending{{Checkpoint: "/1", CreatedBoot: 10 * time.Second, RollbackAfter: 90 * time.Second}}, checkpointLook,
			"waiting for NetworkManager's checkpoint /1, which ends at 00:01:00Z; somebody else made it",
		},
		"it ends in a moment": {
			[]backend.Pending{{Checkpoint: "/1", CreatedBoot: 10 * time.Second, RollbackAfter: 33 * time.Second}}, 4 * time.Second,
			"waiting for NetworkManager's checkpoint /1, which ends at 00:00:03Z; somebody else made it",
		},
		"there are two": {
			[]backend.Pending{{Checkpoint: "/1"}, {Checkpoint: "/2", CreatedBoot: 10 * time.Second, RollbackAfter: 30 * time.Second}}, time.Second,
			"waiting for NetworkManager's checkpoint /1, which lives until whoever made it ends it; /2, which ends at 00:00:00Z; somebody else made it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Agent{Options: Options{Clock: newPassing()}}
			found := obstacleOf(c.pending, 40*time.Second, a.Clock.Now())
			if found.look != c.look || found.message != c.message {
				t.Fatalf("got %+v", found)
			}
			nns := &v1.NodeNetworkState{}
			a.wait(nns, nil, found)
			first := a.txn.waiting
			later := *found
			later.message = "a second later"
			if a.wait(nns, first, &later); a.txn.waiting.Message != first.Message {
				t.Errorf("told anew: %s", a.txn.waiting.Message)
			}
		})
	}
}

package agent

import (
	"testing"

	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func TestWhatIsCommittedIsNotObservedWhileAnotherChangeIsTakenBack(t *testing.T) {
	t.Parallel()
	var nns v1.NodeNetworkState
	nns.Generation = 7
	a := &Agent{Options: Options{Clock: deadline.On(clock.RealClock{})}, record: ledger{Record: journal.Record{Committed: &journal.Committed{}}}}
	a.record.Committed.Hash = a.hashOf(nns.Spec.DesiredState)
	for phase, want := range map[txn.Phase]int64{txn.RollingBack: 0, txn.Settling: 0, txn.Idle: 7} {
		a.txn.State = txn.State{Phase: phase}
		var status v1.NodeNetworkStateStatus
		a.describe(&nns, &status)
		if status.ObservedGeneration != want {
			t.Errorf("in phase %s generation %d is observed, want %d", phase, status.ObservedGeneration, want)
		}
	}
}

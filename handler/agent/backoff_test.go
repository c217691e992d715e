package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

func TestANextAttemptThatAClockAheadHasWrittenIsWaitedForAnew(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, want := range map[string]struct {
		last     v1.Transaction
		after    time.Duration
		wait     time.Duration
		reported bool
	}{
		"it was refused, and waits":                     {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRefused}, after: 5 * time.Second, wait: 5 * time.Second},
		"it was refused by a clock ahead":               {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRefused}, after: 2 * time.Hour, wait: 10 * time.Minute, reported: true},
		"it has lost a probe for a day":                 {last: v1.Transaction{Attempts: 9, Result: v1.TransactionRolledBack}, after: 23 * time.Hour, wait: 23 * time.Hour},
		"it was superseded, and waits a moment":         {last: v1.Transaction{Result: v1.TransactionSuperseded}, after: time.Second, wait: time.Second},
		"it was superseded by a clock ahead":            {last: v1.Transaction{Result: v1.TransactionSuperseded}, after: 5 * time.Minute, wait: supersededPause, reported: true},
		"a removal was taken up again, and is due":      {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRolledBack}},
		"a removal was taken up again by a clock ahead": {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRolledBack}, after: 2 * time.Hour, wait: 10 * time.Minute, reported: true},
	} {
		t.Run(name, func(t *testing.T) {
			want.last.Generation = 2
			want.last.RetryAfter = &metav1.Time{Time: now.Add(want.after)}
			clock := clocktesting.NewFakeClock(now)
			a := &Agent{Options: Options{Clock: deadline.On(clock)}, record: journal.Record{Last: &want.last}}
			nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1", Generation: 2}}
			const jitter = time.Minute
			wait, due := a.mayTry(nns)
			if wait < want.wait || wait > want.wait+jitter || due != (want.wait == 0) || a.unreported != want.reported {
				t.Fatalf("it waits %s (due: %t, to be reported: %t), want %s", wait, due, a.unreported, want.wait)
			}
			clock.Step(wait)
			if left, due := a.mayTry(nns); !due {
				t.Errorf("%s later it waits %s", wait, left)
			}
		})
	}
}

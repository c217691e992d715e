package idle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

func TestANextAttemptThatAClockAheadHasWrittenIsWaitedForAnew(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for name, want := range map[string]struct {
		last   v1.Transaction
		after  time.Duration
		wait   time.Duration
		nearer bool
	}{
		"it was refused, and waits":                     {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRefused}, after: 5 * time.Second, wait: 5 * time.Second},
		"it was refused by a clock ahead":               {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRefused}, after: 2 * time.Hour, wait: 10 * time.Minute, nearer: true},
		"it has lost a probe for a day":                 {last: v1.Transaction{Attempts: 9, Result: v1.TransactionRolledBack}, after: 23 * time.Hour, wait: 23 * time.Hour},
		"it was superseded, and waits a moment":         {last: v1.Transaction{Result: v1.TransactionSuperseded}, after: time.Second, wait: time.Second},
		"it was superseded by a clock ahead":            {last: v1.Transaction{Result: v1.TransactionSuperseded}, after: 5 * time.Minute, wait: SupersededPause, nearer: true},
		"a removal was taken up again, and is due":      {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRolledBack}},
		"a removal was taken up again by a clock ahead": {last: v1.Transaction{Attempts: 1, Result: v1.TransactionRolledBack}, after: 2 * time.Hour, wait: 10 * time.Minute, nearer: true},
	} {
		t.Run(name, func(t *testing.T) {
			want.last.Generation = 2
			want.last.RetryAfter = &metav1.Time{Time: now.Add(want.after)}
			s := Situation{
				Object: Managed, Closed: true, Stage: Told, Now: now, Node: "node1",
				Wanted: Wanted{Change: txn.Change{Generation: 2, Hash: "h"}}, Past: Past{Last: &want.last},
			}
			const jitter = time.Minute
			action, stage := Decide(s)
			pause, waits := action.(Pause)
			if stage != Enforced || waits != (want.wait > 0) || pause.For < want.wait || pause.For > want.wait+jitter || (pause.Last != nil) != want.nearer {
				t.Fatalf("%+v, want that it waits %s", action, want.wait)
			}
			if pause.Last != nil {
				s.Past.Last = pause.Last
			}
			s.Now = s.Now.Add(pause.For)
			if action, _ := Decide(s); action != (Begin{}) {
				t.Errorf("%s later: %+v", pause.For, action)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	for name, c := range map[string]struct {
		attempts  int32
		lost      bool
		low, high time.Duration
	}{
		"the first retry comes after a second":             {1, false, time.Second, 1100 * time.Millisecond},
		"each further one waits twice as long":             {4, false, 8 * time.Second, 8800 * time.Millisecond},
		"but never more than five minutes":                 {40, false, 5 * time.Minute, 330 * time.Second},
		"a lost probe waits ten minutes":                   {1, true, 10 * time.Minute, 11 * time.Minute},
		"and a day at the most, since it is an outage":     {40, true, 24 * time.Hour, 27 * time.Hour},
		"before any failure the first wait is as good too": {0, false, time.Second, 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Backoff{}).After("node1", c.attempts, c.lost); got < c.low || got > c.high {
				t.Errorf("got %s, want %s to %s", got, c.low, c.high)
			}
		})
	}
}

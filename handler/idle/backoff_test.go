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

func TestWhenAChangeThatEndedIsTriedAgain(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	policies := []v1.Source{{Policy: "p"}}
	for sentence, c := range map[string]struct {
		last     v1.Transaction
		removal  bool
		before   *v1.Transaction
		attempts int32
		low      time.Duration // zero: the node does not decide it
		final    bool
	}{
		"what was committed is not":                        {last: v1.Transaction{Result: v1.TransactionCommitted}},
		"what is not wanted any more waits for the cache":  {last: v1.Transaction{Result: v1.TransactionSuperseded, Sources: policies}, low: SupersededPause},
		"a policy's change is tried again when it says so": {last: v1.Transaction{Result: v1.TransactionRolledBack, Sources: policies, Final: true}, attempts: 1, final: true},
		"one written by hand is tried soon":                {last: v1.Transaction{Result: v1.TransactionRefused}, attempts: 1, low: time.Second},
		"and late where it lost a probe":                   {last: v1.Transaction{Result: v1.TransactionRolledBack, Final: true}, attempts: 1, low: 10 * time.Minute},
		"a removal is tried again though policies stay":    {last: v1.Transaction{Result: v1.TransactionRefused, Sources: policies}, removal: true, attempts: 1, low: time.Second},
		"each attempt counts": {
			last: v1.Transaction{Result: v1.TransactionRefused}, before: &v1.Transaction{Generation: 2, Attempts: 3}, attempts: 4, low: 8 * time.Second,
		},
		"that of another generation does not": {
			last: v1.Transaction{Result: v1.TransactionRefused}, before: &v1.Transaction{Generation: 1, Attempts: 3}, attempts: 1, low: time.Second,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			c.last.Generation = 2
			got := Ending{Last: c.last, Removal: c.removal, At: at, Node: "node1"}.After(c.before)
			var wait time.Duration
			if got.RetryAfter != nil {
				wait = got.RetryAfter.Sub(at)
			}
			if got.Attempts != c.attempts || got.Final != c.final || wait < c.low || wait > c.low+c.low/5 {
				t.Errorf("attempt %d, final %t, again after %s; want attempt %d, final %t, after %s", got.Attempts, got.Final, wait, c.attempts, c.final, c.low)
			}
		})
	}
}

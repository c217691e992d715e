package observe

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal("not skipped in strict mode: " + reason)
	}
	t.Skip(reason)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func receive(t *testing.T, w *Watcher) Kind {
	t.Helper()
	select {
	case event, ok := <-w.C():
		if !ok {
			t.Fatal("the watcher ended")
		}
		return event.Kind
	case <-time.After(patience):
		t.Fatal("no event came")
		return 0
	}
}

// run starts a watcher on the real clock; it is over when the test is.
func run(t *testing.T, options Options) *Watcher {
	t.Helper()
	options.Clock, options.Log = clock.RealClock{}, logr.Discard()
	w := New(options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestPacer(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	tests := map[string]struct {
		triggers []int // ms; the pacer is asked every 10 ms in between
		want     []int
	}{
		"a lone trigger passes at once":                           {[]int{0}, []int{0}},
		"a burst passes at its start and at its end":              {[]int{0, 10, 20, 30}, []int{0, 200}},
		"a lasting burst passes every 200 ms, the last one too":   {[]int{0, 100, 190, 210, 390, 410}, []int{0, 200, 400, 600}},
		"a trigger after a quiet time passes at once":             {[]int{0, 500}, []int{0, 500}},
		"a trigger right when the interval is over passes once":   {[]int{0, 200}, []int{0, 200}},
		"what passed at the end of a burst starts a new interval": {[]int{0, 10, 210}, []int{0, 200, 400}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := pacer{interval: 200 * time.Millisecond}
			var passed []int
			for ms := 0; ms <= 1000; ms += 10 {
				fired := false
				for _, trigger := range test.triggers {
					if trigger == ms {
						fired = p.trigger(at(ms)) || fired
					}
				}
				if fired = p.due(at(ms)) || fired; fired {
					passed = append(passed, ms)
				}
			}
			if diff := cmp.Diff(test.want, passed); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOwner(t *testing.T) {
	tests := map[string]struct {
		seen []string
		want []Kind
	}{
		"the first look is no event":                       {[]string{":1.1"}, nil},
		"a first look without NetworkManager is none":      {[]string{""}, nil},
		"NetworkManager starts":                            {[]string{"", ":1.1"}, []Kind{NetworkManagerBack}},
		"NetworkManager stops":                             {[]string{":1.1", ""}, []Kind{NetworkManagerGone}},
		"NetworkManager stops and starts":                  {[]string{":1.1", "", ":1.2"}, []Kind{NetworkManagerGone, NetworkManagerBack}},
		"another instance without a gap is a restart":      {[]string{":1.1", ":1.2"}, []Kind{NetworkManagerRestarted}},
		"the same instance again is nothing":               {[]string{":1.1", ":1.1"}, nil},
		"no NetworkManager, and still none, is nothing":    {[]string{"", ""}, nil},
		"gone while nobody looked is noticed at next look": {[]string{":1.1", ":1.1", ""}, []Kind{NetworkManagerGone}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var o owner
			var got []Kind
			for _, instance := range test.seen {
				if event, happened := o.now(instance); happened {
					got = append(got, event.Kind)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutboxDropsTheOldestOnlyWhenNobodyReads(t *testing.T) {
	var o outbox
	for range outboxLimit {
		o.put(Event{Kind: NetworkManagerGone})
	}
	o.put(Event{Kind: Network})
	o.put(Event{Kind: NetworkManagerBack})
	var got []Kind
	for {
		event, ok := o.next()
		if !ok {
			break
		}
		got = append(got, event.Kind)
		o.delivered()
	}
	if len(got) != outboxLimit+1 || got[outboxLimit-1] != NetworkManagerBack || got[outboxLimit] != Network {
		t.Errorf("%d events, the last %v", len(got), got[len(got)-2:])
	}
}

// paced runs only the delivery, on a fake clock.
func paced(t *testing.T) (*Watcher, *testclock.FakeClock) {
	t.Helper()
	fake := testclock.NewFakeClock(time.Unix(1000, 0))
	w := New(Options{Clock: fake, Log: logr.Discard()})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.deliver(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return w, fake
}

func nothing(t *testing.T, w *Watcher) {
	t.Helper()
	select {
	case event := <-w.C():
		t.Fatalf("an event too many: %s", event.Kind)
	default:
	}
}

func TestBurstIsDeliveredTwice(t *testing.T) {
	w, fake := paced(t)
	w.changed <- struct{}{}
	if got := receive(t, w); got != Network {
		t.Fatal(got)
	}
	for range 50 {
		w.changed <- struct{}{}
	}
	// The poll's ticker and the pacer's timer.
	eventually(t, "the end of the burst is waited for", func() bool { return fake.Waiters() >= 2 })
	nothing(t, w)
	fake.Step(defaultInterval)
	if got := receive(t, w); got != Network {
		t.Fatal(got)
	}
	nothing(t, w)
}

func TestNetworkManagerOvertakesAndIsNeverMerged(t *testing.T) {
	w, _ := paced(t)
	w.changed <- struct{}{}
	w.names <- Event{Kind: NetworkManagerGone}
	w.changed <- struct{}{}
	w.names <- Event{Kind: NetworkManagerBack}
	w.names <- Event{Kind: NetworkManagerGone}
	var got []Kind
	for range 4 {
		got = append(got, receive(t, w))
	}
	if diff := cmp.Diff([]Kind{NetworkManagerGone, NetworkManagerBack, NetworkManagerGone, Network}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPollTriggersWithoutAnyChange(t *testing.T) {
	w, fake := paced(t)
	eventually(t, "the poll is set up", fake.HasWaiters)
	nothing(t, w)
	fake.Step(defaultPoll)
	if got := receive(t, w); got != Network {
		t.Fatal(got)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, bus := range []string{"unix:path=" + t.TempDir() + "/none", "nonsense"} {
		w := New(Options{Clock: clock.RealClock{}, Log: logr.Discard(), BusAddress: bus})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		if runtime.GOOS == "linux" {
			receive(t, w) // The subscription to the kernel counts as a change.
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, open := <-w.C(); open {
			t.Error("an event after the end")
		}
	}
	eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

package probe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/probe/conformance"
)

// scripted answers as told; it is also the least that passes the suite.
type scripted struct {
	probe.NoTargets
	mu    sync.Mutex
	names []string
	tries int
	probe func(ctx context.Context, name string, try int) error
}

func (s *scripted) Names() []string { return s.names }

func (s *scripted) Probe(ctx context.Context, name string) error {
	s.mu.Lock()
	s.tries++
	try := s.tries
	s.mu.Unlock()
	return s.probe(ctx, name, try)
}

func (s *scripted) tried() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

// watched is a clock that tells of the timers that are set on it: the waits
// between two tries.
type watched struct {
	*testclock.FakeClock
	timers chan time.Duration
}

func (w watched) NewTimer(d time.Duration) clock.Timer {
	timer := w.FakeClock.NewTimer(d)
	w.timers <- d
	return timer
}

func TestUntilRepeatsAfterTheInterval(t *testing.T) {
	fake := watched{testclock.NewFakeClock(time.Unix(1000, 0)), make(chan time.Duration)}
	s := &scripted{probe: func(_ context.Context, _ string, try int) error {
		if try < 3 {
			return fmt.Errorf("try %d", try)
		}
		return nil
	}}
	done := make(chan error, 1)
	go func() { done <- probe.Until(t.Context(), deadline.On(fake), s, "dns", time.Second, time.Minute) }()
	for try := 1; try < 3; try++ {
		if waited := <-fake.timers; waited != time.Second {
			t.Fatalf("it waits for %s", waited)
		}
		if got := s.tried(); got != try {
			t.Fatalf("%d tries before the interval was over", got)
		}
		fake.Step(time.Second)
	}
	if err := <-done; err != nil || s.tried() != 3 {
		t.Errorf("%v after %d tries", err, s.tried())
	}
}

func TestUntilReturnsTheLastWholeAttempt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{probe: func(_ context.Context, _ string, try int) error {
		if try == 3 {
			cancel() // The window ends in the middle of the attempt.
			return errors.New("cut short")
		}
		return fmt.Errorf("whole attempt %d", try)
	}}
	err := probe.Until(ctx, deadline.On(clock.RealClock{}), s, "dns", time.Nanosecond, time.Minute)
	if err == nil || err.Error() != "whole attempt 2" {
		t.Error(err)
	}
}

func TestUntilSaysSomethingWhenTheOnlyAttemptWasCutShort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{probe: func(context.Context, string, int) error { cancel(); return errors.New("cut short") }}
	err := probe.Until(ctx, deadline.On(clock.RealClock{}), s, "dns", time.Hour, time.Minute)
	if err == nil || err.Error() != "cut short" {
		t.Error(err)
	}
}

func TestUntilDoesNotPassWhenThereWasNoTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &scripted{probe: func(context.Context, string, int) error { return nil }}
	if err := probe.Until(ctx, deadline.On(clock.RealClock{}), s, "dns", time.Hour, time.Minute); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestUntilBoundsAnAttempt(t *testing.T) {
	s := &scripted{probe: func(ctx context.Context, _ string, try int) error {
		if try == 2 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}}
	if err := probe.Until(t.Context(), deadline.On(clock.RealClock{}), s, "dns", time.Nanosecond, time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestOnceAsksSideBySide(t *testing.T) {
	var together sync.WaitGroup
	together.Add(3)
	s := &scripted{probe: func(_ context.Context, name string, _ int) error {
		together.Done()
		together.Wait() // Only passed when all three are here.
		if name == "b" {
			return errors.New("b: down")
		}
		return nil
	}}
	got := map[string]string{}
	for name, err := range probe.Once(t.Context(), clock.RealClock{}, s, []string{"a", "b", "c"}, time.Minute) {
		got[name] = fmt.Sprint(err)
	}
	want := map[string]string{"a": "<nil>", "b": "b: down", "c": "<nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheSuiteTakesWhatKeepsTheContract(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Subject {
		var mu sync.Mutex
		cut := map[string]bool{}
		set := func(name string, down bool) {
			mu.Lock()
			defer mu.Unlock()
			cut[name] = down
		}
		names := []string{"one", "two"}
		s := &scripted{names: names, probe: func(ctx context.Context, name string, _ int) error {
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil || cut[name] || (name != "one" && name != "two" && name != "ping 192.0.2.1") {
				return fmt.Errorf("%s: down", name)
			}
			return nil
		}}
		return conformance.Subject{
			Prober: s, Clock: deadline.On(clock.RealClock{}), Targets: []string{"ping 192.0.2.1"},
			Cut: func(name string) { set(name, true) }, Mend: func(name string) { set(name, false) },
		}
	})
}

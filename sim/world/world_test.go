package world_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// noted runs a world and returns its trace, without times that are zero.
func noted(t *testing.T, seed uint64, set func(w *world.World)) (string, uint64) {
	t.Helper()
	w := world.New(seed)
	var lines []string
	w.Sink = func(l world.Line) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", l.At, l.Who, l.What, l.Text)))
	}
	set(w)
	if err := w.RunFor(time.Hour); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n"), w.Hash()
}

func TestOneRunsAtATimeInTheOrderOfTime(t *testing.T) {
	got, _ := noted(t, 1, func(w *world.World) {
		a, b := w.Process("a"), w.Process("b")
		for _, p := range []*world.Process{a, b} {
			p.Go("main", func() {
				for range 2 {
					p.Clock().Wait(t.Context(), nil, time.Second)
					w.Trace(p.Name, "tick", "")
				}
			})
		}
		w.After(1500*time.Millisecond, func() { w.Trace("", "middle", "") })
	})
	want := "1s a tick\n1s b tick\n1.5s  middle\n2s a tick\n2s b tick"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAProcessThatIsKilledInAPortCallWritesNothingMore(t *testing.T) {
	got, _ := noted(t, 1, func(w *world.World) {
		p := w.Process("p")
		w.Interpose = func(world.Call) world.Verdict { return world.Verdict{Before: time.Second, After: time.Second} }
		call := func(verb string) {
			_ = p.Call(t.Context(), "port", verb, "x", func() error { return nil })
		}
		p.Go("main", func() {
			defer call("deferred")
			call("first")
			call("second")
			call("never")
		})
		p.Go("other", func() { p.Clock().Wait(t.Context(), nil, time.Minute); w.Trace("p", "never", "") })
		w.After(3500*time.Millisecond, p.Kill)
	})
	want := "1s p port first x\n3s p port second x\n3.5s p killed"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFaultsOfACall(t *testing.T) {
	tests := map[string]struct {
		verdict world.Verdict
		want    string
	}{
		"passes":                           {world.Verdict{}, "done; told <nil>"},
		"fails before the effect":          {world.Verdict{Fail: true}, "told " + world.ErrFailed.Error()},
		"has its effect and loses a reply": {world.Verdict{Lose: true}, "done; told " + world.ErrLost.Error()},
		"crashes before the effect":        {world.Verdict{CrashBefore: true}, "died"},
		"crashes after the effect":         {world.Verdict{CrashAfter: true}, "done; died"},
		"takes longer than the caller has": {world.Verdict{Before: time.Minute}, "told context deadline exceeded"},
		"is answered too late":             {world.Verdict{After: time.Minute}, "done; told context deadline exceeded"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var said []string
			_, _ = noted(t, 1, func(w *world.World) {
				w.Interpose = func(world.Call) world.Verdict { return test.verdict }
				p := w.Process("p")
				p.OnDeath(func() { said = append(said, "died") })
				p.Go("main", func() {
					ctx, cancel := deadline.After(t.Context(), p.Clock(), 10*time.Second)
					defer cancel()
					err := p.Call(ctx, "port", "verb", "x", func() error { said = append(said, "done"); return nil })
					said = append(said, fmt.Sprint("told ", err))
				})
			})
			if diff := cmp.Diff(test.want, strings.Join(said, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWaitEndsByNewsAndByContext(t *testing.T) {
	got, _ := noted(t, 1, func(w *world.World) {
		p := w.Process("p")
		news := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		p.Go("reader", func() {
			for p.Clock().Wait(ctx, news, time.Hour) {
				w.Trace("p", "news", "")
			}
			w.Trace("p", "ended", "")
		})
		p.Go("writer", func() {
			p.Clock().Wait(ctx, nil, time.Second)
			news <- struct{}{}
			p.Clock().Wait(ctx, nil, time.Second)
			cancel()
		})
	})
	if diff := cmp.Diff("1s p news\n2s p ended", got); diff != "" {
		t.Error(diff)
	}
}

func TestAPanicOfProductionCodeEndsTheRun(t *testing.T) {
	w := world.New(1)
	w.Process("p").Go("main", func() { panic("oops") })
	if err := w.RunFor(time.Second); err == nil || !strings.Contains(err.Error(), "p main#1 panicked: oops") {
		t.Error(err)
	}
}

// busy is a world in which latencies are drawn and processes crash.
func busy(w *world.World) {
	latency := w.Rand("latency")
	w.Interpose = func(world.Call) world.Verdict {
		return world.Verdict{Before: time.Duration(latency.IntN(1000)) * time.Millisecond, CrashAfter: latency.IntN(50) == 0}
	}
	for i := range 5 {
		name := fmt.Sprint("p", i)
		var start func()
		start = func() {
			p := w.Process(name)
			p.OnDeath(func() { w.After(time.Second, start) })
			for range 3 {
				p.Go("worker", func() {
					for {
						_ = p.Call(context.Background(), "port", "verb", "x", func() error { return errors.New("no") })
					}
				})
			}
		}
		start()
	}
}

func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	trace, hash := noted(t, 7, busy)
	runtime.GOMAXPROCS(2)
	again, hashAgain := noted(t, 7, busy)
	if hash != hashAgain {
		t.Error(cmp.Diff(trace, again))
	}
	if _, other := noted(t, 8, busy); other == hash {
		t.Error("another seed gave the same trace")
	}
}

func TestAWorldThatIsClosedKeepsNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		w := world.New(7)
		busy(w)
		if err := w.RunFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	if after := runtime.NumGoroutine(); after > before+1 {
		t.Errorf("%d goroutines before and %d after", before, after)
	}
}

func BenchmarkCall(b *testing.B) {
	b.ReportAllocs()
	w := world.New(1)
	w.Interpose = func(world.Call) world.Verdict { return world.Verdict{Before: time.Millisecond} }
	p := w.Process("p")
	n := 0
	p.Go("main", func() {
		for ; n < b.N; n++ {
			_ = p.Call(b.Context(), "port", "verb", "x", func() error { return nil })
		}
	})
	if err := w.RunUntil(1<<60, func() bool { return n >= b.N }); err != nil {
		b.Fatal(err)
	}
}

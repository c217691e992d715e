package world

import (
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// Start is when every world begins.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// World is one run. It is used by one goroutine.
type World struct {
	seed uint64
	now  time.Duration // since Start
	sequence,
	steps, calls uint64
	events  timeline
	current *coroutine
	// threads that nothing runs on.
	threads []*thread
	// processes that live or died, in the order of their making.
	processes []*Process
	failure   error
	hash      hash.Hash64
	// Interpose decides what becomes of each port call; nil lets all of them
	// pass without latency.
	Interpose func(Call) Verdict
	// Skew is how wrong a process's wall clock is at this instant; nil where all
	// of them are right.
	Skew func(process string) time.Duration
	// Sink gets the readable trace; nil for none.
	Sink func(Line)
	// AfterStep is called after each event; nil for nothing.
	AfterStep func()
}

// New makes a world at Start.
func New(seed uint64) *World { return &World{seed: seed, hash: fnv.New64a()} }

// Seed of the run.
func (w *World) Seed() uint64 { return w.seed }

// Now is the virtual time.
func (w *World) Now() time.Time { return Start.Add(w.now) }

// Elapsed is the time since Start.
func (w *World) Elapsed() time.Duration { return w.now }

// Steps counts the events that ran.
func (w *World) Steps() uint64 { return w.steps }

// Calls counts the port calls that began.
func (w *World) Calls() uint64 { return w.calls }

// Rand is the random stream of a component; each call begins it anew.
func (w *World) Rand(component string) *rand.Rand {
	name := fnv.New64a()
	_, _ = name.Write([]byte(component))
	return rand.New(rand.NewPCG(w.seed, name.Sum64())) //nolint:gosec // It has to repeat itself.
}

// After runs an action of the world itself (a timer of a host, a fault) when d
// is over. It runs outside of every coroutine, so it must not park.
func (w *World) After(d time.Duration, action func()) *Event {
	return w.schedule(d, nil, action)
}

func (w *World) schedule(d time.Duration, p *Process, action func()) *Event {
	w.sequence++
	e := &Event{at: w.now + max(d, 0), sequence: w.sequence, process: p, action: action}
	w.events.add(e)
	return e
}

// RunFor runs what happens within d, and lets the time pass.
func (w *World) RunFor(d time.Duration) error { return w.RunUntil(w.now+d, nil) }

// RunUntil runs until the time, counted from Start, or until done, if given, says so
// after an event. The error is that of the first Fail.
func (w *World) RunUntil(end time.Duration, done func() bool) error {
	for w.failure == nil {
		next := w.events.first()
		if next == nil || next.at > end {
			w.now = max(w.now, end)
			break
		}
		w.step()
		if done != nil && done() {
			break
		}
	}
	return w.failure
}

// Close ends every process, so that nothing of the run stays in memory; nothing
// can happen after it.
func (w *World) Close() {
	w.Sink, w.AfterStep = nil, nil
	for _, p := range w.processes {
		p.end()
	}
	for _, t := range w.threads {
		t.stop()
	}
	w.processes, w.events, w.threads = nil, nil, nil
}

// Idle tells whether nothing will ever happen again.
func (w *World) Idle() bool { return w.events.first() == nil }

func (w *World) step() {
	e := w.events.take()
	w.now = max(w.now, e.at)
	w.steps++
	if e.process == nil || !e.process.dead {
		e.action()
		if e.process != nil {
			e.process.wakeReady()
		}
	}
	if w.AfterStep != nil && w.failure == nil {
		w.AfterStep()
	}
}

// Fail ends the run; the first one counts.
func (w *World) Fail(err error) {
	if w.failure == nil {
		w.failure = fmt.Errorf("at %s: %w", w.now, err)
		w.Trace("", "fail", err.Error())
	}
}

// Failure is what ended the run, nil for nothing.
func (w *World) Failure() error { return w.failure }

// Line is one line of the trace.
type Line struct {
	At time.Duration
	// Who is a process, a node, or empty for the world itself.
	Who string
	// What kind of thing: "call", "reply", "log", "fault", ...
	What string
	// Text, in one line.
	Text string
}

func (l Line) String() string {
	return fmt.Sprintf("%12.3fs %-14s %-8s %s", l.At.Seconds(), l.Who, l.What, l.Text)
}

// Trace notes what happened, in the hash and, if there is one, in the sink.
func (w *World) Trace(who, what, text string) {
	var at [8]byte
	for i := range at {
		at[i] = byte(w.now >> (8 * i))
	}
	_, _ = w.hash.Write(at[:])
	for _, s := range []string{who, what, text} {
		_, _ = w.hash.Write([]byte(s))
		_, _ = w.hash.Write([]byte{0})
	}
	if w.Sink != nil {
		w.Sink(Line{At: w.now, Who: who, What: what, Text: text})
	}
}

// Hash is that of the trace so far: the same seed gives the same one.
func (w *World) Hash() uint64 { return w.hash.Sum64() }

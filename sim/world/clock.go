package world

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Clock is the process's clock, for production code.
type Clock struct{ process *Process }

// Clock of the process.
func (p *Process) Clock() Clock { return Clock{p} }

// Now is the wall clock's time, skew included.
func (c Clock) Now() time.Time {
	now := c.process.world.Now()
	if skew := c.process.world.Skew; skew != nil {
		return now.Add(skew(c.process.Name))
	}
	return now
}

// Since is the time since t by the wall clock.
func (c Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Running is for how long the world has run: no skew changes that.
func (c Clock) Running() time.Duration { return c.process.world.Elapsed() }

// AfterFunc runs f when d is over, unless the process dies before.
func (c Clock) AfterFunc(d time.Duration, f func()) clock.Timer {
	t := &timer{clock: c, f: f}
	t.event = c.process.After(d, f)
	return t
}

// Wait parks until d is over, ctx ends or something is in news, of which it
// takes one; news may be nil. It tells whether it was neither ctx nor the
// process's end.
func (c Clock) Wait(ctx context.Context, news <-chan struct{}, d time.Duration) bool {
	if ctx.Err() == nil && len(news) == 0 {
		c.process.park(d, func() bool { return ctx.Err() != nil || len(news) > 0 })
	}
	select {
	case <-news:
	default:
	}
	return ctx.Err() == nil
}

// The others would block where the world cannot see it.
const blocks = "world: production code waits with the clock's Wait or AfterFunc only"

// NewTimer panics: a channel cannot park.
func (Clock) NewTimer(time.Duration) clock.Timer { panic(blocks) }

// After panics: a channel cannot park.
func (Clock) After(time.Duration) <-chan time.Time { panic(blocks) }

// Tick panics: a channel cannot park.
func (Clock) Tick(time.Duration) <-chan time.Time { panic(blocks) }

// Sleep parks.
func (c Clock) Sleep(d time.Duration) { c.process.park(d, nil) }

type timer struct {
	clock Clock
	f     func()
	event *Event
}

func (t *timer) C() <-chan time.Time { return nil }
func (t *timer) Stop() bool          { return t.event.Stop() }
func (t *timer) Reset(d time.Duration) bool {
	was := t.event.Stop()
	t.event = t.clock.process.After(d, t.f)
	return was
}

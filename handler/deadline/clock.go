package deadline

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// Clock is the clock of everything that waits. Whoever has it waits by Wait and
// by After only, never for a timer's channel: so a clock can know all that
// is waited for.
type Clock interface {
	clock.WithDelayedExecution
	// Wait returns when d is over, when ctx ends, or when something is in news,
	// of which it takes one; news may be nil. It returns false if ctx ended.
	Wait(ctx context.Context, news <-chan struct{}, d time.Duration) bool
}

// On makes a Clock of one that has timers.
func On(clock clock.WithDelayedExecution) Clock { return ticking{clock} }

type ticking struct{ clock.WithDelayedExecution }

// Wait returns when d is over, when ctx ends, or when something is in news.
func (t ticking) Wait(ctx context.Context, news <-chan struct{}, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	timer := t.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-news:
	case <-timer.C():
	}
	return ctx.Err() == nil
}

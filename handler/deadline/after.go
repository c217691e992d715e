package deadline

import (
	"context"
	"errors"
	"time"

	"k8s.io/utils/clock"
)

// After is context.WithTimeout on a clock: the context ends when d is over
// there, with the cause context.DeadlineExceeded, or when its parent does.
// Cancel must be called, to stop the timer.
func After(parent context.Context, clock clock.WithDelayedExecution, d time.Duration) (ctx context.Context, cancel context.CancelFunc) {
	inner, end := context.WithCancelCause(parent)
	if d <= 0 {
		end(context.DeadlineExceeded)
		return limited{Context: inner, deadline: clock.Now()}, func() {}
	}
	timer := clock.AfterFunc(d, func() { end(context.DeadlineExceeded) })
	return limited{Context: inner, deadline: clock.Now().Add(d)}, func() {
		timer.Stop()
		end(context.Canceled)
	}
}

type limited struct {
	context.Context //nolint:containedctx // It is one, and so has to hold its parent.

	deadline time.Time
}

// Deadline is the parent's where that is earlier.
func (l limited) Deadline() (time.Time, bool) {
	if earlier, there := l.Context.Deadline(); there && earlier.Before(l.deadline) {
		return earlier, true
	}
	return l.deadline, true
}

// Err is what package context says after a timeout.
func (l limited) Err() error {
	if err := l.Context.Err(); err == nil || !errors.Is(context.Cause(l.Context), context.DeadlineExceeded) {
		return err
	}
	return context.DeadlineExceeded
}

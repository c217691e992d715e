package observe

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// source is one that a test lets be there, tell and fail.
type source struct{ up, tell, fail chan struct{} }

func (s source) watch(w *Watcher) func(context.Context, func()) error {
	return func(ctx context.Context, up func()) error {
		select {
		case <-s.up:
			up()
		case <-ctx.Done():
			return ctx.Err()
		}
		for {
			select {
			case <-s.tell:
				w.trigger(ctx)
			case <-s.fail:
				return errors.New("it is gone")
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// TestWhatIsHeardCountsBeforeItIsTold: nobody takes an event here, and what was heard is
// another number all the same.
func TestWhatIsHeardCountsBeforeItIsTold(t *testing.T) {
	w, fake := paced(t)
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	both := [2]source{}
	for i := range both {
		both[i] = source{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		group.Go(func() { w.keep(ctx, "a source", both[i].watch(w)) })
	}
	is := func(whole bool) func() bool {
		return func() bool { _, now := w.Heard(); return now == whole }
	}
	both[0].up <- struct{}{}
	if !is(false)() {
		t.Error("one of two sources is listened to, and it says that all are")
	}
	both[1].up <- struct{}{}
	eventually(t, "both are listened to", is(true))
	eventually(t, "both have counted their beginning", func() bool { heard, _ := w.Heard(); return heard == 2 })

	both[0].tell <- struct{}{}
	eventually(t, "a change is counted", func() bool { heard, whole := w.Heard(); return heard == 3 && whole })

	both[1].fail <- struct{}{}
	eventually(t, "one is not listened to any more", is(false))
	eventually(t, "it waits for its next try", func() bool { return fake.Waiters() >= 2 })
	fake.Step(lastRetry)
	both[1].up <- struct{}{}
	eventually(t, "both are listened to again", is(true))
	if heard, _ := w.Heard(); heard == 3 {
		t.Error("what was missed meanwhile counts as nothing")
	}
}

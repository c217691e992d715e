package deadline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/utils/clock"
	testclock "k8s.io/utils/clock/testing"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

var start = time.Unix(1000, 0)

func TestAContextEndsByItsClock(t *testing.T) {
	fake := testclock.NewFakeClock(start)
	ctx, cancel := deadline.After(t.Context(), fake, time.Hour)
	defer cancel()
	if at, there := ctx.Deadline(); !there || !at.Equal(start.Add(time.Hour)) {
		t.Errorf("deadline %v, %v", at, there)
	}
	fake.Step(time.Hour - 1)
	if ctx.Err() != nil {
		t.Fatal("it ended too early")
	}
	fake.Step(1)
	<-ctx.Done()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		t.Errorf("%v, %v", ctx.Err(), context.Cause(ctx))
	}
}

func TestAContextThatIsCancelledLeavesNoTimer(t *testing.T) {
	fake := testclock.NewFakeClock(start)
	ctx, cancel := deadline.After(t.Context(), fake, time.Hour)
	cancel()
	if !errors.Is(ctx.Err(), context.Canceled) || fake.HasWaiters() {
		t.Errorf("%v, waiters: %v", ctx.Err(), fake.HasWaiters())
	}
}

func TestAContextEndsWithItsParent(t *testing.T) {
	fake := testclock.NewFakeClock(start)
	parent, end := deadline.After(t.Context(), fake, time.Minute)
	ctx, cancel := deadline.After(parent, fake, time.Hour)
	defer cancel()
	if at, _ := ctx.Deadline(); !at.Equal(start.Add(time.Minute)) {
		t.Errorf("deadline %v is not the parent's", at)
	}
	end()
	<-ctx.Done()
	if ctx.Err() == nil {
		t.Error("no error")
	}
}

func TestNoTimeIsNoTime(t *testing.T) {
	ctx, cancel := deadline.After(t.Context(), clock.RealClock{}, -time.Second)
	defer cancel()
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error(ctx.Err())
	}
}

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

var errInUse = errors.New("address already in use")

// The rest fails, and ends the handler only once the way back has ended.
func TestTheWayBackComesFirst(t *testing.T) {
	for sentence, test := range map[string]struct {
		wayBack    time.Duration
		fails      error
		rest, ends time.Duration
	}{
		"with nothing to take back the rest begins at once":             {0, nil, 0, time.Hour},
		"the rest begins when the node is back":                         {3 * time.Second, nil, 3 * time.Second, time.Hour},
		"a way back that waits is told after a moment":                  {time.Minute, nil, meanwhile, time.Hour},
		"a port in use ends a handler that has nothing to take back":    {0, errInUse, 0, 0},
		"a port in use does not keep the node from being taken back":    {3 * time.Second, errInUse, 3 * time.Second, 3 * time.Second},
		"nor where that waits for a NetworkManager that stays away":     {time.Minute, errInUse, meanwhile, time.Minute},
		"and a handler that is asked to end does not wait for it":       {2 * time.Hour, errInUse, meanwhile, time.Hour},
		"and asks for no port when it is asked to end before the rest ": {2 * time.Hour, nil, meanwhile, time.Hour},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				recovered := make(chan struct{})
				go func() {
					defer close(recovered)
					select {
					case <-time.After(test.wayBack):
					case <-ctx.Done():
					}
				}()
				synctest.Wait()
				rest := time.Duration(-1)
				err := recoverFirst(ctx, deadline.On(clock.RealClock{}), recovered, func(ctx context.Context) error {
					rest = time.Since(began)
					if test.fails == nil {
						<-ctx.Done()
					}
					return test.fails
				})
				if ends := time.Since(began); !errors.Is(err, test.fails) || rest != test.rest || ends != test.ends {
					t.Errorf("the rest began after %s, the end came after %s with %v; want %s, %s and %v", rest, ends, err, test.rest, test.ends, test.fails)
				}
			})
		})
	}
}

func TestAHandlerThatIsAskedToEndDuringTheWayBackOpensNoPort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := recoverFirst(ctx, deadline.On(clock.RealClock{}), make(chan struct{}), func(context.Context) error {
		t.Error("the rest began")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestTheSecondHandlerWaits(t *testing.T) {
	errNoLocks := errors.New("no locks available")
	for sentence, test := range map[string]struct {
		answers []error
		waits   time.Duration
		want    error
	}{
		"nobody else runs":                {[]error{nil}, 0, nil},
		"another one runs for a while":    {[]error{journal.ErrLocked, journal.ErrLocked, nil}, 2 * lockPoll, nil},
		"another one does not end":        {[]error{journal.ErrLocked}, time.Minute, journal.ErrLocked},
		"a disk that grants no lock":      {[]error{errNoLocks}, 0, nil},
		"a disk that grants none anymore": {[]error{journal.ErrLocked, errNoLocks}, lockPoll, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, asked := time.Now(), 0
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := awaitLock(ctx, deadline.On(clock.RealClock{}), func() error {
					asked++
					return test.answers[min(asked, len(test.answers))-1]
				})
				if waited := time.Since(began); !errors.Is(err, test.want) || waited != test.waits {
					t.Errorf("waited %s and got %v, want %s and %v", waited, err, test.waits, test.want)
				}
			})
		})
	}
}

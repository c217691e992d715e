package observe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

const (
	// defaultInterval keeps a burst of changes (an apply makes hundreds) from
	// becoming a burst of reads of the whole state.
	defaultInterval = 200 * time.Millisecond
	// defaultPoll finds what no event told.
	defaultPoll = 5 * time.Minute
	// firstRetry and lastRetry bound the exponential back-off of a subscription.
	firstRetry = 500 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Options are what a Watcher needs.
type Options struct {
	Clock clock.WithTicker
	Log   logr.Logger
	// BusAddress is the D-Bus address where NetworkManager is; empty means the
	// system bus at its usual path.
	BusAddress string
	// Folder is one in which a change of a file counts; empty for none.
	Folder string
	// Interval is the least time between two Network events; zero means 200 ms.
	Interval time.Duration
	// Poll is the time between two Network events that come without any
	// change; zero means 5 minutes.
	Poll time.Duration
}

// Watcher turns what the kernel and NetworkManager say into events.
type Watcher struct {
	Options
	out     chan Event
	changed chan struct{}
	names   chan Event
	// heard counts what the sources tell, as it comes; missing is how many of them are
	// not listened to now.
	heard   atomic.Uint64
	missing atomic.Int32
}

// New makes a watcher; Run starts it.
func New(options Options) *Watcher {
	if options.Interval == 0 {
		options.Interval = defaultInterval
	}
	if options.Poll == 0 {
		options.Poll = defaultPoll
	}
	if options.BusAddress == "" {
		options.BusAddress = systemBus
	}
	w := &Watcher{Options: options, out: make(chan Event), changed: make(chan struct{}), names: make(chan Event)}
	w.missing.Store(2)
	if options.Folder != "" {
		w.missing.Store(3)
	}
	return w
}

// Heard is a number that is another one whenever a source has told of a change, long before
// the event comes that tells it in its turn. False: not all sources are listened to.
func (w *Watcher) Heard() (uint64, bool) { return w.heard.Load(), w.missing.Load() == 0 }

// C delivers the events. It is closed when Run returns.
func (w *Watcher) C() <-chan Event { return w.out }

// Run watches until ctx ends, and is called once. It returns nil, after
// everything that it started has ended.
func (w *Watcher) Run(ctx context.Context) error {
	defer close(w.out)
	var sources sync.WaitGroup
	sources.Go(func() { w.keep(ctx, "the kernel's netlink", w.watchKernel) })
	seen := &owner{}
	sources.Go(func() {
		w.keep(ctx, "the system bus", func(ctx context.Context, up func()) error { return w.watchBus(ctx, seen, up) })
	})
	if w.Folder != "" {
		sources.Go(func() { w.keep(ctx, w.Folder, w.watchFolder) })
	}
	defer sources.Wait()
	w.deliver(ctx)
	return nil
}

// deliver is the one place where events are paced, ordered and handed out.
func (w *Watcher) deliver(ctx context.Context) {
	poll := w.Clock.NewTicker(w.Poll)
	defer poll.Stop()
	pace, waiting := pacer{interval: w.Interval}, outbox{}
	for {
		var out chan Event
		next, ok := waiting.next()
		if ok {
			out = w.out
		}
		due, stop := w.dueTimer(&pace)
		fire := false
		select {
		case <-ctx.Done():
			stop()
			return
		case out <- next:
			waiting.delivered()
		case event := <-w.names:
			waiting.put(event)
		case <-w.changed:
			fire = pace.trigger(w.Clock.Now())
		case <-poll.C():
			fire = pace.trigger(w.Clock.Now())
		case <-due:
			fire = pace.due(w.Clock.Now())
		}
		stop()
		if fire {
			waiting.put(Event{Kind: Network})
		}
	}
}

func (w *Watcher) dueTimer(pace *pacer) (<-chan time.Time, func()) {
	wait, pending := pace.wait(w.Clock.Now())
	if !pending {
		return nil, func() {}
	}
	timer := w.Clock.NewTimer(wait)
	return timer.C(), func() { timer.Stop() }
}

// trigger says that the network may have changed.
func (w *Watcher) trigger(ctx context.Context) {
	w.heard.Add(1)
	select {
	case w.changed <- struct{}{}:
	case <-ctx.Done():
	}
}

// tell hands over what happened to NetworkManager.
func (w *Watcher) tell(ctx context.Context, event Event) {
	w.heard.Add(1)
	select {
	case w.names <- event:
	case <-ctx.Done():
	}
}

// keep runs a subscription again and again until ctx ends. The subscription
// calls up once it is made; each time counts as a change. A failure is said
// once, not at every try.
func (w *Watcher) keep(ctx context.Context, what string, watch func(ctx context.Context, up func()) error) {
	retry, said := firstRetry, false
	for ctx.Err() == nil {
		listening := false
		err := watch(ctx, func() {
			if said {
				w.Log.Info("watching again", "source", what)
			}
			retry, said, listening = firstRetry, false, true
			w.missing.Add(-1)
			w.trigger(ctx)
		})
		if listening {
			w.missing.Add(1)
			w.heard.Add(1) // Whatever it misses until it is up again.
		}
		if ctx.Err() != nil {
			return
		}
		if !said {
			said = true
			w.Log.Info("cannot watch, trying again until it works", "source", what, "reason", err.Error())
		}
		timer := w.Clock.NewTimer(retry)
		select {
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
		retry = min(2*retry, lastRetry)
	}
}

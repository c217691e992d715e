package cluster

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// queue is a controller's work queue on the world's clock: what a Reconcile may
// rely on, and nothing more. A request is in it once; while a turn for it runs, it
// waits; an addition for later gives way to an earlier one.
type queue struct {
	process *world.Process
	limiter workqueue.TypedRateLimiter[reconcile.Request]
	// ready in the order of their coming, and those that come later.
	ready   []reconcile.Request
	waiting map[reconcile.Request]*later
	running map[reconcile.Request]bool
	// again: asked for while its turn ran.
	again map[reconcile.Request]bool
	// start takes turns for what is ready.
	start func()
}

type later struct {
	at    time.Duration
	event *world.Event
}

func newQueue(p *world.Process, limiter workqueue.TypedRateLimiter[reconcile.Request]) *queue {
	if limiter == nil { // As controller-runtime, without its bucket of all requests, which goes by the machine's clock.
		limiter = workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, 1000*time.Second)
	}
	return &queue{
		process: p, limiter: limiter,
		waiting: map[reconcile.Request]*later{}, running: map[reconcile.Request]bool{}, again: map[reconcile.Request]bool{},
	}
}

// Add asks for a turn now.
func (q *queue) Add(r reconcile.Request) {
	if w := q.waiting[r]; w != nil {
		w.event.Stop()
		delete(q.waiting, r)
	}
	switch {
	case q.running[r]:
		q.again[r] = true
	case !slices.Contains(q.ready, r):
		q.ready = append(q.ready, r)
		if q.start != nil {
			q.start()
		}
	}
}

// AddAfter asks for a turn when d is over.
func (q *queue) AddAfter(r reconcile.Request, d time.Duration) {
	if d <= 0 {
		q.Add(r)
		return
	}
	at := q.process.World().Elapsed() + d
	if w := q.waiting[r]; w != nil {
		if w.at <= at {
			return
		}
		w.event.Stop()
	} else if q.again[r] || slices.Contains(q.ready, r) {
		return
	}
	q.waiting[r] = &later{at: at, event: q.process.After(d, func() { q.Add(r) })}
}

// AddRateLimited asks for a turn after one that failed.
func (q *queue) AddRateLimited(r reconcile.Request) { q.AddAfter(r, q.limiter.When(r)) }

// Forget ends the counting of failures.
func (q *queue) Forget(r reconcile.Request) { q.limiter.Forget(r) }

// NumRequeues counts the failures in a row.
func (q *queue) NumRequeues(r reconcile.Request) int { return q.limiter.NumRequeues(r) }

// take begins the turn of the first that is ready.
func (q *queue) take() (reconcile.Request, bool) {
	if len(q.ready) == 0 {
		return reconcile.Request{}, false
	}
	r := q.ready[0]
	q.ready = q.ready[1:]
	q.running[r] = true
	return r, true
}

// Done ends the turn.
func (q *queue) Done(r reconcile.Request) {
	delete(q.running, r)
	if q.again[r] {
		delete(q.again, r)
		q.Add(r)
	}
}

// Len is how many are ready.
func (q *queue) Len() int { return len(q.ready) }

// The rest of the interface is for the loops of a real controller.

// Get panics: turns are taken by the controller's own loop.
func (q *queue) Get() (reconcile.Request, bool) { panic("cluster: a queue is not read from outside") }

// ShutDown does nothing: a process ends by its death.
func (q *queue) ShutDown() {}

// ShutDownWithDrain does nothing: a process ends by its death.
func (q *queue) ShutDownWithDrain() {}

// ShuttingDown is never so.
func (q *queue) ShuttingDown() bool { return false }

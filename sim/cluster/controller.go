package cluster

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/watch"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// controller gives a production reconciler its turns.
type controller struct {
	watch.Controller

	ctx        context.Context //nolint:containedctx // It is the process's own, as a manager has one.
	process    *world.Process
	reconciler reconcile.Reconciler
	queue      *queue
	running    int
}

func newController(ctx context.Context, p *world.Process, c watch.Controller, r reconcile.Reconciler) *controller {
	made := &controller{Controller: c, ctx: ctx, process: p, reconciler: r, queue: newQueue(p, c.Options.RateLimiter)}
	return made
}

// begin fills the cache and has its changes ask for turns. It returns when the
// first lists are there.
func begin(ctx context.Context, cache *apiserver.Cache, controllers []*controller) error {
	for _, c := range controllers {
		for _, w := range c.Watches {
			cache.Subscribe(w.Object, func(change apiserver.Change) { c.heard(w, change) })
		}
	}
	cache.Start()
	if err := cache.WaitForSync(ctx); err != nil {
		return err
	}
	for _, c := range controllers {
		c.queue.start = c.start
		c.start()
	}
	return nil
}

// heard passes a change through the watch's predicate to its handler, which may
// read, and so runs as a coroutine.
func (c *controller) heard(w watch.Watch, change apiserver.Change) {
	switch {
	case change.Old == nil:
		e := event.CreateEvent{Object: change.New, IsInInitialList: change.Initial}
		if w.Passes().Create(e) {
			c.process.Go("event", func() { w.Handler.Create(c.ctx, e, c.queue) })
		}
	case change.New == nil:
		e := event.DeleteEvent{Object: change.Old}
		if w.Passes().Delete(e) {
			c.process.Go("event", func() { w.Handler.Delete(c.ctx, e, c.queue) })
		}
	default:
		e := event.UpdateEvent{ObjectOld: change.Old, ObjectNew: change.New}
		if w.Passes().Update(e) {
			c.process.Go("event", func() { w.Handler.Update(c.ctx, e, c.queue) })
		}
	}
}

// start begins as many turns as may run at once.
func (c *controller) start() {
	for c.running < max(1, c.Options.MaxConcurrentReconciles) {
		request, ok := c.queue.take()
		if !ok {
			return
		}
		c.running++
		c.process.Go(c.Name, func() { c.turn(request) })
	}
}

func (c *controller) turn(request reconcile.Request) {
	ctx := c.ctx
	if timeout := c.Options.ReconciliationTimeout; timeout > 0 {
		limited, cancel := deadline.After(ctx, c.process.Clock(), timeout)
		defer cancel()
		ctx = limited
	}
	result, err := c.reconciler.Reconcile(ctx, request)
	c.running--
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		c.queue.Forget(request)
	case err != nil:
		c.process.World().Trace(c.process.Name, "turn", c.Name+" "+request.Name+": "+err.Error())
		c.queue.Done(request)
		c.queue.AddRateLimited(request)
		c.start()
		return
	case result.RequeueAfter > 0:
		c.queue.Forget(request)
		c.queue.Done(request)
		c.queue.AddAfter(request, result.RequeueAfter)
		c.start()
		return
	default:
		c.queue.Forget(request)
	}
	c.queue.Done(request)
	c.start()
}

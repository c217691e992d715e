package apiserver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver/conformance"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

func TestTheModelKeepsWhatTheProductReliesOn(t *testing.T) {
	conformance.Run(t, newModel(t, func(m *model, manager string) client.Client {
		way := m.store.Connect(m.process, apiserver.ConnectionOptions{UserAgent: manager})
		return driven{m, way.Client(nil)}
	}))
}

func TestTheOutsideGetsTheSameFromTheModel(t *testing.T) {
	conformance.Run(t, newModel(t, func(m *model, manager string) client.Client { return m.store.As(manager) }))
}

// model is the model under test: the world goes on while a call of the test waits.
type model struct {
	t       *testing.T
	world   *world.World
	store   *apiserver.Store
	process *world.Process
	as      func(m *model, manager string) client.Client
}

func newModel(t *testing.T, as func(*model, string) client.Client) *model {
	w := world.New(1)
	w.Interpose = func(world.Call) world.Verdict {
		return world.Verdict{Before: time.Millisecond, After: time.Millisecond}
	}
	return &model{t: t, world: w, store: apiserver.New(w), process: w.Process("conformance"), as: as}
}

func (m *model) As(manager string) client.Client { return m.as(m, manager) }

func (m *model) Collects() bool { return true }

func (m *model) Eventually(t *testing.T, condition func() error) {
	t.Helper()
	var last error
	for range 1000 {
		if last = condition(); last == nil {
			return
		}
		if err := m.world.RunFor(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal(last)
}

func (m *model) Cached(t *testing.T, options cache.Options, like client.Object, indexes map[string]client.IndexerFunc) conformance.Cached {
	t.Helper()
	c := &cached{model: m, way: m.store.Connect(m.process, apiserver.ConnectionOptions{})}
	c.cache = c.way.Cache(options)
	for field, extract := range indexes {
		if err := c.cache.IndexField(t.Context(), like, field, extract); err != nil {
			t.Fatal(err)
		}
	}
	c.cache.Subscribe(like, func(change apiserver.Change) {
		c.changes = append(c.changes, conformance.Change{Old: change.Old, New: change.New})
	})
	if err := c.way.Client(c.cache).Get(t.Context(), client.ObjectKey{Name: "x"}, like); err == nil {
		t.Error("a cache that was not started answers")
	}
	c.cache.Start()
	c.Client = driven{m, c.way.Client(c.cache)}
	m.Eventually(t, func() error {
		if !c.cache.Synced() {
			return fmt.Errorf("the cache has not listed")
		}
		return nil
	})
	return c
}

type cached struct {
	client.Client

	model   *model
	way     *apiserver.Connection
	cache   *apiserver.Cache
	changes []conformance.Change
}

func (c *cached) Consistent() client.Client { return driven{c.model, c.way.ConsistentClient(c.cache)} }

func (c *cached) Changes() []conformance.Change { return c.changes }

// driven runs each call in a coroutine, and the world until it is done.
type driven struct {
	model  *model
	client client.Client
}

func (d driven) run(call func() error) error {
	done := false
	var err error
	d.model.process.Go("call", func() {
		err = call()
		done = true
	})
	if failed := d.model.world.RunUntil(d.model.world.Elapsed()+time.Hour, func() bool { return done }); failed != nil {
		d.model.t.Fatal(failed)
	}
	if !done {
		d.model.t.Fatal("a call is not done within an hour")
	}
	return err
}

func (d driven) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return d.run(func() error { return d.client.Get(ctx, key, o, options...) })
}

func (d driven) List(ctx context.Context, o client.ObjectList, options ...client.ListOption) error {
	return d.run(func() error { return d.client.List(ctx, o, options...) })
}

func (d driven) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	return d.run(func() error { return d.client.Create(ctx, o, options...) })
}

func (d driven) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	return d.run(func() error { return d.client.Update(ctx, o, options...) })
}

func (d driven) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return d.run(func() error { return d.client.Patch(ctx, o, patch, options...) })
}

func (d driven) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	return d.run(func() error { return d.client.Delete(ctx, o, options...) })
}

func (d driven) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	panic("not in the suite")
}

func (d driven) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	panic("not in the suite")
}

func (d driven) Status() client.SubResourceWriter {
	return drivenStatus{d, d.client.Status()}
}

func (d driven) SubResource(string) client.SubResourceClient { panic("not in the suite") }
func (d driven) Scheme() *runtime.Scheme                     { panic("not in the suite") }
func (d driven) RESTMapper() meta.RESTMapper                 { panic("not in the suite") }

func (d driven) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return d.client.GroupVersionKindFor(o)
}

func (d driven) IsObjectNamespaced(o runtime.Object) (bool, error) {
	return d.client.IsObjectNamespaced(o)
}

type drivenStatus struct {
	driven

	status client.SubResourceWriter
}

func (d drivenStatus) Create(context.Context, client.Object, client.Object, ...client.SubResourceCreateOption) error {
	panic("not in the suite")
}

func (d drivenStatus) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	panic("not in the suite")
}

func (d drivenStatus) Update(ctx context.Context, o client.Object, options ...client.SubResourceUpdateOption) error {
	return d.run(func() error { return d.status.Update(ctx, o, options...) })
}

func (d drivenStatus) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
	return d.run(func() error { return d.status.Patch(ctx, o, patch, options...) })
}

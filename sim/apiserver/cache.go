package apiserver

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cache is a manager's cache: for each kind that somebody subscribed to or
// asked for, a view of the server that lags behind it.
type Cache struct {
	connection *Connection
	options    cache.Options
	started    bool
	views      [numKinds]*view
}

func newCache(c *Connection, options cache.Options) *Cache {
	byObject := options.ByObject
	known := cache.Options{DefaultTransform: options.DefaultTransform, ByObject: byObject}
	options.ByObject, options.DefaultTransform = nil, nil
	if !reflect.DeepEqual(options, cache.Options{}) {
		panic(fmt.Sprintf("apiserver: the model lacks an option of %+v", options))
	}
	return &Cache{connection: c, options: known}
}

// Change is what a view tells of one object, as informers do: New is nil when it
// is gone, Old when it was not there. They must not be changed.
type Change struct {
	Old, New client.Object
	// Initial: from the first list.
	Initial bool
}

// Subscribe has f called for each change in the view of like's kind, from the
// first list on. It is called in an event of the process, outside of its
// coroutines, so it must not park.
func (c *Cache) Subscribe(like client.Object, f func(Change)) {
	v := c.view(place(like))
	if v.live {
		panic("apiserver: the model has no subscription after the first list")
	}
	v.handlers = append(v.handlers, f)
}

// IndexField implements client.FieldIndexer.
func (c *Cache) IndexField(_ context.Context, like client.Object, field string, extract client.IndexerFunc) error {
	v := c.view(place(like))
	if v.live {
		return fmt.Errorf("informer has already started") //nolint:err113,perfsprint // As informers say it.
	}
	v.indexes = append(v.indexes, &index{field: field, extract: extract, items: map[string]*list{}})
	return nil
}

// Start begins to list and watch what was subscribed to.
func (c *Cache) Start() {
	c.started = true
	for _, v := range c.views {
		if v != nil {
			v.start()
		}
	}
}

// Synced tells whether the first lists of all views are there.
func (c *Cache) Synced() bool {
	for _, v := range c.views {
		if v != nil && !v.live {
			return false
		}
	}
	return c.started
}

// WaitForSync parks until Synced or until ctx ends.
func (c *Cache) WaitForSync(ctx context.Context) error {
	return c.connection.process.WaitFor(ctx, c.Synced)
}

// Lag is how many changes of a kind the view has not shown yet.
func (c *Cache) Lag(like client.Object) int {
	if v := c.views[place(like)]; v != nil {
		return len(v.queue)
	}
	return 0
}

func (c *Cache) view(kind int) *view {
	if c.views[kind] == nil {
		c.views[kind] = newView(c, kind)
		if c.started {
			c.views[kind].start()
		}
	}
	return c.views[kind]
}

// synced is the view once its first list is there.
func (c *Cache) synced(ctx context.Context, kind int) (*view, error) {
	if !c.started {
		return nil, &cache.ErrCacheNotStarted{}
	}
	v := c.view(kind)
	if v.live {
		return v, nil
	}
	if err := c.connection.process.WaitFor(ctx, func() bool { return v.live }); err != nil {
		return nil, apierrors.NewTimeoutError(fmt.Sprintf("failed waiting for %T Informer to sync", v.table.kind.fresh()), 0)
	}
	return v, nil
}

func (c *Client) cachedGet(ctx context.Context, key client.ObjectKey, into client.Object, o client.GetOptions) error {
	kind := place(into)
	if c.own != nil {
		if err := c.own.seen(ctx, c, kind, key.Name); err != nil {
			return err
		}
	}
	v, err := c.cache.synced(ctx, kind)
	if err != nil {
		return err
	}
	k := v.table.kind
	found := v.items[key.Name]
	if found == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: k.group.Group, Resource: k.name}, key.Name)
	}
	if o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy {
		k.adopt(into, found.object)
		return nil
	}
	k.adopt(into, found.object.DeepCopyObject().(client.Object))
	into.GetObjectKind().SetGroupVersionKind(k.gvk())
	return nil
}

func (c *Client) cachedList(ctx context.Context, into client.ObjectList, o client.ListOptions) error {
	kind := place(into)
	if c.own != nil {
		if err := c.own.seen(ctx, c, kind, ""); err != nil {
			return err
		}
	}
	v, err := c.cache.synced(ctx, kind)
	if err != nil {
		return err
	}
	items, err := v.selected(o)
	if err != nil {
		return err
	}
	found := make([]client.Object, 0, len(items))
	share := o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
	for _, i := range items {
		switch {
		case o.Namespace != "" && i.object.GetNamespace() != o.Namespace:
		case o.LabelSelector != nil && !o.LabelSelector.Matches(labelSet(i.object)):
		case share:
			found = append(found, i.object)
		default:
			made := i.object.DeepCopyObject().(client.Object)
			made.GetObjectKind().SetGroupVersionKind(v.table.kind.gvk())
			found = append(found, made)
		}
	}
	v.table.kind.fillInto(into, found)
	into.SetContinue("continue-not-supported")
	return nil
}

// selected are the items by an index, or all.
func (v *view) selected(o client.ListOptions) ([]*item, error) {
	if o.FieldSelector == nil {
		return v.order.items, nil
	}
	wanted := o.FieldSelector.Requirements()
	if len(wanted) != 1 {
		lacks("list by several fields: " + o.FieldSelector.String())
	}
	i := slices.IndexFunc(v.indexes, func(i *index) bool { return i.field == wanted[0].Field })
	if i < 0 {
		return nil, fmt.Errorf("Index with name field:%s does not exist", wanted[0].Field) //nolint:staticcheck // As informers say it.
	}
	if found := v.indexes[i].items[wanted[0].Value]; found != nil {
		return found.items, nil
	}
	return nil, nil
}

package apiserver

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is production's client: it writes to the server, and reads from the
// cache that it was given, otherwise from the server.
type Client struct {
	unmodelled

	connection *Connection
	cache      *Cache
	// own are this client's writes that a cached read waits for; nil for a
	// client that does not read its own writes.
	own *ownWrites
}

// Client makes one. cache may be nil: it reads live then.
func (c *Connection) Client(cache *Cache) *Client {
	return &Client{connection: c, cache: cache}
}

// ConsistentClient makes one that reads its own writes, as a manager's with
// EnableReadYourWritesConsistency.
func (c *Connection) ConsistentClient(cache *Cache) *Client {
	return &Client{connection: c, cache: cache, own: newOwnWrites()}
}

// Live reads past every cache.
func (c *Connection) Live() client.Reader { return &Client{connection: c} }

func (c *Client) request(verb string, o client.Object, subresource string) Request {
	k := c.connection.store.kinds[place(o)]
	return Request{Process: c.connection.process.Name, Verb: verb, Kind: k.name, Name: o.GetName(), Subresource: subresource}
}

func (c *Client) by(r Request, manager string) request {
	if manager == "" {
		manager = c.connection.UserAgent
	}
	return request{process: r.Process, verb: r.Verb, subresource: r.Subresource, manager: manager}
}

// Get implements client.Reader.
func (c *Client) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	o := getOptions(options)
	if c.cache != nil {
		return c.cachedGet(ctx, key, into, o)
	}
	s := c.connection.store
	t := s.tables[place(into)]
	r := Request{Process: c.connection.process.Name, Verb: "get", Kind: t.kind.name, Name: key.Name}
	var found client.Object
	err := c.connection.do(ctx, r, func() error {
		var err error
		found, err = s.get(t, key.Name)
		return err
	})
	if err != nil {
		return err
	}
	t.kind.adopt(into, found.DeepCopyObject().(client.Object))
	return nil
}

// List implements client.Reader.
func (c *Client) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	o := listOptions(options)
	if c.cache != nil {
		return c.cachedList(ctx, into, o)
	}
	s := c.connection.store
	t := s.tables[place(into)]
	r := Request{Process: c.connection.process.Name, Verb: "list", Kind: t.kind.name}
	return c.connection.do(ctx, r, func() error { return s.list(t, into, o) })
}

func (s *Store) get(t *table, name string) (client.Object, error) {
	e := t.entries[name]
	if e == nil {
		return nil, apierrors.NewNotFound(t.kind.resource(), name)
	}
	if len(e.owners) == 0 {
		return e.object, nil
	}
	found := t.kind.shallow(e.object)
	found.SetManagedFields(e.owners.managed())
	return found, nil
}

func (s *Store) list(t *table, into client.ObjectList, o client.ListOptions) error {
	if o.FieldSelector != nil {
		panic("apiserver: the model has no field selectors in live lists: " + o.FieldSelector.String())
	}
	var found []client.Object
	for _, name := range t.names() {
		object, _ := s.get(t, name)
		if o.LabelSelector == nil || o.LabelSelector.Matches(labelSet(object)) {
			found = append(found, object.DeepCopyObject().(client.Object))
		}
	}
	t.kind.fill(into, found)
	into.SetResourceVersion(fmt.Sprint(s.revision))
	return nil
}

// Create implements client.Writer.
func (c *Client) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	r := c.request("create", o, "")
	manager := createOptions(options)
	return c.write(ctx, r, o, func() (client.Object, error) { return c.connection.store.create(c.by(r, manager), o) })
}

// Update implements client.Writer.
func (c *Client) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	return c.update(ctx, o, "", updateOptions(options))
}

func (c *Client) update(ctx context.Context, o client.Object, subresource, manager string) error {
	r := c.request("update", o, subresource)
	return c.write(ctx, r, o, func() (client.Object, error) { return c.connection.store.update(c.by(r, manager), o) })
}

// Patch implements client.Writer.
func (c *Client) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return c.patch(ctx, o, "", patch, patchOptions(options))
}

func (c *Client) patch(ctx context.Context, o client.Object, subresource string, patch client.Patch, manager string) error {
	sent, err := c.connection.store.differ.contentOf(patch, o)
	if err != nil {
		return err
	}
	r := c.request("patch", o, subresource)
	return c.write(ctx, r, o, func() (client.Object, error) {
		return c.connection.store.patch(c.by(r, manager), o, sent)
	})
}

// write sends one and puts what comes back into o.
func (c *Client) write(ctx context.Context, r Request, o client.Object, effect func() (client.Object, error)) error {
	k := c.connection.store.kinds[place(o)]
	if err := c.own.ready(ctx, c, o); err != nil {
		return err
	}
	var made client.Object
	err := c.connection.do(ctx, r, func() error {
		var err error
		made, err = effect()
		return err
	})
	if err != nil {
		return err
	}
	c.own.wrote(place(o), made)
	k.adopt(o, made.DeepCopyObject().(client.Object))
	return nil
}

// Delete implements client.Writer.
func (c *Client) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	only, unawaited := deleteOptions(options)
	r, own := c.request("delete", o, ""), c.own
	if unawaited {
		own = nil
	}
	if err := own.ready(ctx, c, o); err != nil {
		return err
	}
	var uid types.UID
	if own != nil {
		switch {
		case only != nil && only.UID != nil:
			uid = *only.UID
		case o.GetUID() != "":
			uid = o.GetUID()
		default:
			panic("apiserver: the model's consistent client deletes by UID only")
		}
	}
	own.deletes(place(o), o.GetName(), uid)
	var left client.Object
	err := c.connection.do(ctx, r, func() error {
		var err error
		left, err = c.connection.store.delete(c.by(r, ""), o, only)
		return err
	})
	if err != nil {
		own.seenDelete(place(o), uid)
		return err
	}
	if len(left.GetFinalizers()) > 0 {
		own.seenDelete(place(o), uid)
		own.wrote(place(o), left)
	}
	return nil
}

// Status implements client.StatusClient.
func (c *Client) Status() client.SubResourceWriter {
	return &statusWriter{update: c.update, patch: c.patch}
}

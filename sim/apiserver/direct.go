package apiserver

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Direct is a client of those outside of the simulated processes (people,
// kubelets, a scenario): what it asks is done at once, so that it may be used in
// an event of the world. Contexts mean nothing to it.
type Direct struct {
	unmodelled

	store *Store
	name  string
}

// As gives a Direct client to somebody, by a name that is also the field
// manager.
func (s *Store) As(name string) *Direct { return &Direct{store: s, name: name} }

func (d *Direct) by(verb, subresource, manager string) request {
	if manager == "" {
		manager = d.name
	}
	return request{process: d.name, verb: verb, subresource: subresource, manager: manager}
}

// Get implements client.Reader.
func (d *Direct) Get(_ context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	getOptions(options)
	t := d.store.tables[place(into)]
	found, err := d.store.get(t, key.Name)
	if err != nil {
		return err
	}
	t.kind.adopt(into, found.DeepCopyObject().(client.Object))
	return nil
}

// List implements client.Reader.
func (d *Direct) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	return d.store.list(d.store.tables[place(into)], into, listOptions(options))
}

// Create implements client.Writer.
func (d *Direct) Create(_ context.Context, o client.Object, options ...client.CreateOption) error {
	made, err := d.store.create(d.by("create", "", createOptions(options)), o)
	return d.adopt(o, made, err)
}

// Update implements client.Writer.
func (d *Direct) Update(ctx context.Context, o client.Object, options ...client.UpdateOption) error {
	return d.update(ctx, o, "", updateOptions(options))
}

func (d *Direct) update(_ context.Context, o client.Object, subresource, manager string) error {
	made, err := d.store.update(d.by("update", subresource, manager), o)
	return d.adopt(o, made, err)
}

// Patch implements client.Writer.
func (d *Direct) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	return d.patch(ctx, o, "", patch, patchOptions(options))
}

func (d *Direct) patch(_ context.Context, o client.Object, subresource string, patch client.Patch, manager string) error {
	sent, err := d.store.differ.contentOf(patch, o)
	if err != nil {
		return err
	}
	made, err := d.store.patch(d.by("patch", subresource, manager), o, sent)
	return d.adopt(o, made, err)
}

// Delete implements client.Writer.
func (d *Direct) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	only, _ := deleteOptions(options)
	_, err := d.store.delete(d.by("delete", "", ""), o, only)
	return err
}

// Status implements client.StatusClient.
func (d *Direct) Status() client.SubResourceWriter {
	return &statusWriter{update: d.update, patch: d.patch}
}

func (d *Direct) adopt(into, made client.Object, err error) error {
	if err != nil {
		return err
	}
	d.store.kinds[place(into)].adopt(into, made.DeepCopyObject().(client.Object))
	return nil
}

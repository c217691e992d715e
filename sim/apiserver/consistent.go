package apiserver

import (
	"context"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ownWrites are what a consistent client wrote and its cache has not shown yet.
// The rules are controller-runtime's: a Get waits for the writes of its object,
// a List for those of its kind; a delete has been seen only when the watch told it.
type ownWrites struct {
	revisions [numKinds]map[string]uint64
	deleted   [numKinds]map[types.UID]string
	watched   [numKinds]bool
}

func newOwnWrites() *ownWrites {
	o := &ownWrites{}
	for i := range numKinds {
		o.revisions[i], o.deleted[i] = map[string]uint64{}, map[types.UID]string{}
	}
	return o
}

// ready waits until the kind is watched, without which no write begins.
func (o *ownWrites) ready(ctx context.Context, c *Client, like client.Object) error {
	if o == nil {
		return nil
	}
	_, err := o.view(ctx, c, place(like))
	return err
}

func (o *ownWrites) view(ctx context.Context, c *Client, kind int) (*view, error) {
	v, err := c.cache.synced(ctx, kind)
	if err != nil {
		return nil, err
	}
	if !o.watched[kind] {
		o.watched[kind] = true
		v.onDelete = append(v.onDelete, func(gone client.Object) { o.seenDelete(kind, gone.GetUID()) })
	}
	return v, nil
}

func (o *ownWrites) wrote(kind int, made client.Object) {
	if o == nil {
		return
	}
	revision, err := strconv.ParseUint(made.GetResourceVersion(), 10, 64)
	if err != nil {
		panic(err)
	}
	o.revisions[kind][made.GetName()] = revision
}

func (o *ownWrites) deletes(kind int, name string, uid types.UID) {
	if o != nil {
		o.deleted[kind][uid] = name
	}
}

func (o *ownWrites) seenDelete(kind int, uid types.UID) {
	if o != nil {
		delete(o.deleted[kind], uid)
	}
}

// seen waits until the view shows the writes of an object, or of all for "".
func (o *ownWrites) seen(ctx context.Context, c *Client, kind int, name string) error {
	v, err := o.view(ctx, c, kind)
	if err != nil {
		return err
	}
	least := o.revisions[kind][name]
	var gone []types.UID
	for uid, of := range o.deleted[kind] {
		if name == "" || of == name {
			gone = append(gone, uid)
		}
	}
	if name == "" {
		for of, revision := range o.revisions[kind] {
			least = max(least, revision)
			if revision <= v.observed {
				delete(o.revisions[kind], of)
			}
		}
	}
	err = c.connection.process.WaitFor(ctx, func() bool {
		for _, uid := range gone {
			if _, waits := o.deleted[kind][uid]; waits {
				return false
			}
		}
		return v.observed >= least
	})
	if err != nil {
		return fmt.Errorf("failed to wait for cache to catch up: %w", err)
	}
	return nil
}

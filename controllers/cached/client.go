package cached

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

const (
	// patience is far beyond what a cache takes to show a write.
	patience = 20 * time.Second
	// glance is how long a read waits for a cache that was behind at the last one.
	glance = 100 * time.Millisecond
)

// New returns the client with reads that end. A client that reads its own writes waits
// until its watch has told them. Where the watch broke and the object was deleted
// meanwhile, nothing tells that write any more: each read of that kind waits until
// somebody changes another object of it, which may be never.
//
// Live reads past the cache. It knows no indexes: a field that is selected by is taken
// for a label of the same name.
func New(c client.Client, live client.Reader, clock clock.WithDelayedExecution) client.Client {
	return &reads{Client: c, live: live, clock: clock, behind: map[string]bool{}}
}

type reads struct {
	client.Client

	live  client.Reader
	clock clock.WithDelayedExecution

	mu sync.Mutex
	// behind are the types of which the last read had to go past the cache.
	behind map[string]bool
}

// Get is the cache's where that catches up.
func (r *reads) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	return r.read(ctx, fmt.Sprintf("%T", into), func(ctx context.Context) error {
		return r.Client.Get(ctx, key, into, options...)
	}, func() error {
		return r.live.Get(ctx, key, into)
	})
}

// List is the cache's where that catches up.
func (r *reads) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	return r.read(ctx, fmt.Sprintf("%T", into), func(ctx context.Context) error {
		return r.Client.List(ctx, into, options...)
	}, func() error {
		return r.live.List(ctx, into, pastCache(options))
	})
}

// read tries the cache, and then the API server.
func (r *reads) read(ctx context.Context, kind string, cache func(context.Context) error, live func() error) error {
	bounded, cancel := deadline.After(ctx, r.clock, r.wait(kind))
	defer cancel()
	err := cache(bounded)
	late := err != nil && errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	r.mu.Lock()
	r.behind[kind] = late
	r.mu.Unlock()
	if late {
		return live()
	}
	return err
}

func (r *reads) wait(kind string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.behind[kind] {
		return glance
	}
	return patience
}

// pastCache are the options as the API server knows them.
func pastCache(options []client.ListOption) *client.ListOptions {
	o := (&client.ListOptions{}).ApplyOptions(options)
	o.UnsafeDisableDeepCopy = nil
	if o.FieldSelector == nil {
		return o
	}
	set := labels.Set{}
	for _, wanted := range o.FieldSelector.Requirements() {
		set[wanted.Field] = wanted.Value
	}
	o.FieldSelector, o.LabelSelector = nil, set.AsSelector()
	return o
}

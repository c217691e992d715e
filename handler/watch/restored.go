package watch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// early is how much before its time a watch may end that nothing has broken.
const early = time.Second

// ErrRestored ends a process that has seen versions to which the cluster has not come yet:
// it was restored from a backup of etcd.
var ErrRestored = errors.New("the cluster was restored from a backup: what this process knows of it is not so any more, so that it has to begin anew")

// Restores notices that a cluster was restored from a backup. A watch that was broken goes
// on from the version that it has seen last. The API server has fewer then, so it tells
// nothing of what came back, and of what is written next nothing until it has counted so
// far again. Until then caches show a mixture of both times.
//
// It is a runnable of the manager whose caches it looks at.
type Restores struct {
	clock   clock.PassiveClock
	object  reflect.Type
	noticed chan struct{}
	once    sync.Once
}

// NewRestores looks when the watch of such objects goes on: there are few of them, and
// the cache that it looks at has them all.
func NewRestores(clock clock.PassiveClock, object client.Object) *Restores {
	return &Restores{clock: clock, object: reflect.TypeOf(object), noticed: make(chan struct{})}
}

// Over has caches with the options looked at.
func (r *Restores) Over(options cache.Options) cache.Options {
	options.NewInformer = func(reads toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		if reflect.TypeOf(object) == r.object {
			reads = r.looksAt(toolscache.ToListerWatcherWithContext(reads))
		}
		return toolscache.NewSharedIndexInformer(reads, object, resync, indexers)
	}
	return options
}

// looksAt asks for the API server's version before a watch goes on that could not be begun, or
// that ended before its time. It is one request after an outage, and none else.
func (r *Restores) looksAt(reads toolscache.ListerWatcherWithContext) *toolscache.ListWatch {
	l := &look{Restores: r, reads: reads}
	return &toolscache.ListWatch{ListWithContextFunc: reads.ListWithContext, WatchFuncWithContext: l.watch}
}

// look is what is known of one cache's watches. Its reflector begins them one after the other.
type look struct {
	*Restores
	reads toolscache.ListerWatcherWithContext
	// seen is the newest version that the cache has seen.
	seen uint64
	// until is when the watch that was begun last ends by itself.
	until time.Time
	// broken: the last one could not be begun, or the version was not told since.
	broken bool
}

func (l *look) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	now := l.clock.Now()
	l.seen = max(l.seen, versionOf(options.ResourceVersion))
	l.broken = l.broken || now.Before(l.until)
	if l.broken && l.seen > 0 {
		if err := l.ask(ctx); err != nil {
			return nil, err
		}
	}
	events, err := l.reads.WatchWithContext(ctx, options)
	l.broken, l.until = err != nil, time.Time{}
	if lasts := options.TimeoutSeconds; lasts != nil {
		l.until = now.Add(time.Duration(*lasts)*time.Second - early)
	}
	return events, err
}

// ask compares what was seen with the version that the API server has come to.
func (l *look) ask(ctx context.Context) error {
	list, err := l.reads.ListWithContext(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	has, err := meta.ListAccessor(list)
	if err != nil {
		return fmt.Errorf("reading the API server's version: %w", err)
	}
	if now := versionOf(has.GetResourceVersion()); now > 0 && now < l.seen {
		l.once.Do(func() { close(l.noticed) })
		return fmt.Errorf("it is at version %d and was at %d: %w", now, l.seen, ErrRestored)
	}
	return nil
}

// versionOf reads a resource version, which is a number (KEP-5504); 0 where there is none.
func versionOf(text string) uint64 {
	version, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// Start fails once a restore is noticed, which ends the manager.
func (r *Restores) Start(ctx context.Context) error {
	select {
	case <-r.noticed:
		return ErrRestored
	case <-ctx.Done():
		return nil
	}
}

// NeedLeaderElection is false: caches are filled whoever leads.
func (*Restores) NeedLeaderElection() bool { return false }

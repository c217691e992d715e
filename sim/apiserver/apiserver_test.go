package apiserver_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// bench is a server and one process on it.
type bench struct {
	*testing.T
	world   *world.World
	store   *apiserver.Store
	process *world.Process
	way     *apiserver.Connection
	cache   *apiserver.Cache
	down    bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	w := world.New(1)
	b := &bench{T: t, world: w, store: apiserver.New(w), process: w.Process("n1")}
	b.way = b.store.Connect(b.process, apiserver.ConnectionOptions{Reach: func() bool { return !b.down }})
	b.cache = b.way.Cache(cache.Options{DefaultTransform: cache.TransformStripManagedFields()})
	return b
}

// do runs a task in the process until it is done.
func (b *bench) do(task func(ctx context.Context)) {
	b.Helper()
	done := false
	b.process.Go("test", func() {
		task(b.Context())
		done = true
	})
	if err := b.world.RunUntil(b.world.Elapsed()+time.Hour, func() bool { return done }); err != nil {
		b.Fatal(err)
	}
	if !done {
		b.Fatal("not done within an hour")
	}
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func state(name string) *v1.NodeNetworkState {
	return &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeNetworkStateSpec{NodeName: name}}
}

func TestACacheLagsBehindTheServer(t *testing.T) {
	b := newBench(t)
	c := b.way.Client(b.cache)
	b.cache.Start()
	var told []apiserver.Change
	b.cache.Subscribe(&v1.NodeNetworkState{}, func(c apiserver.Change) { told = append(told, c) })
	b.do(func(ctx context.Context) {
		var got v1.NodeNetworkState
		if err := c.Get(ctx, client.ObjectKey{Name: "n1"}, &got); !apierrors.IsNotFound(err) {
			t.Errorf("an empty server: %v", err)
		}
		made := state("n1")
		b.must(c.Create(ctx, made))
		if err := c.Get(ctx, client.ObjectKey{Name: "n1"}, &got); !apierrors.IsNotFound(err) {
			t.Errorf("just after the write: %v, %v", got, err)
		}
		b.process.Clock().Sleep(time.Second)
		b.must(c.Get(ctx, client.ObjectKey{Name: "n1"}, &got))
		if got.UID != made.UID || got.Generation != 1 || got.ResourceVersion != made.ResourceVersion || !*got.Spec.Managed {
			t.Errorf("got %+v", got)
		}
	})
	if len(told) != 1 || told[0].New == nil || told[0].Old != nil {
		t.Errorf("told %+v", told)
	}
}

func TestAConsistentClientWaitsForItsOwnWrites(t *testing.T) {
	b := newBench(t)
	c := b.way.ConsistentClient(b.cache)
	b.cache.Start()
	b.store.Faults.Delay = func(string, string) time.Duration { return 3 * time.Second }
	b.do(func(ctx context.Context) {
		b.must(c.Create(ctx, state("n1")))
		begin := b.world.Elapsed()
		var list v1.NodeNetworkStateList
		b.must(c.List(ctx, &list))
		if took := b.world.Elapsed() - begin; len(list.Items) != 1 || took != 3*time.Second {
			t.Errorf("%d objects after %s", len(list.Items), took)
		}
		b.must(c.Delete(ctx, &list.Items[0]))
		b.must(c.List(ctx, &list))
		if len(list.Items) != 0 {
			t.Error("it is there although we deleted it")
		}
	})
}

func TestWhatIsLostOnTheWayIsNotDoneOrNotTold(t *testing.T) {
	b := newBench(t)
	c := b.way.Client(nil)
	b.must(b.store.As("kubelet").Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}))
	b.down = true
	b.do(func(ctx context.Context) {
		begin := b.world.Elapsed()
		err := c.Create(ctx, state("n1"))
		if took := b.world.Elapsed() - begin; err == nil || took != apiserver.HandlerLostAfter {
			t.Errorf("%v after %s", err, took)
		}
		if b.store.Look(state(""), "n1") != nil {
			t.Error("it is there although nothing reached the server")
		}
		begin = b.world.Elapsed()
		err = c.Create(ctx, state("n1"))
		if took := b.world.Elapsed() - begin; err == nil || took != apiserver.HandlerDialTimeout {
			t.Errorf("the second try: %v after %s", err, took)
		}
	})
	b.down = false
	b.store.Written(func(apiserver.Write) { b.down = true })
	b.do(func(ctx context.Context) {
		if err := c.Create(ctx, state("n1")); err == nil {
			t.Error("the reply came although the way was down")
		}
		if b.store.Look(state(""), "n1") == nil {
			t.Error("it is not there although it reached the server")
		}
	})
}

func merge(format string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))
}

package cached_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/nmstate/kubernetes-nmstate/controllers/cached"
)

// stage is a cache and an API server, which have different Nodes.
type stage struct {
	client.Client
	clock *testclock.FakeClock
	// isBehind: the cache waits for what no watch tells any more.
	isBehind bool
	waiting  chan struct{}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{clock: testclock.NewFakeClock(time.Unix(1000, 0)), waiting: make(chan struct{}, 10)}
	of := func(name string) client.WithWatch {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": "policy"}}}
		return fake.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(node).
			WithIndex(&corev1.Node{}, "of", func(o client.Object) []string { return []string{o.GetLabels()["of"]} }).Build()
	}
	caught := interceptor.NewClient(of("in-cache"), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if err := s.catchUp(ctx); err != nil {
				return err
			}
			return c.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if err := s.catchUp(ctx); err != nil {
				return err
			}
			return c.List(ctx, into, options...)
		},
	})
	s.Client = cached.New(caught, of("in-store"), s.clock)
	return s
}

func (s *stage) catchUp(ctx context.Context) error {
	if !s.isBehind {
		return nil
	}
	s.waiting <- struct{}{}
	<-ctx.Done()
	return errors.Join(errors.New("failed to wait for cache to catch up"), ctx.Err())
}

// after lets that much time pass once the cache is waited for.
func (s *stage) after(d time.Duration) {
	go func() {
		<-s.waiting
		s.clock.Step(d)
	}()
}

func (s *stage) list(t *testing.T) string {
	t.Helper()
	var nodes corev1.NodeList
	if err := s.List(t.Context(), &nodes, client.MatchingFields{"of": "policy"}, client.UnsafeDisableDeepCopy); err != nil || len(nodes.Items) != 1 {
		t.Fatal(err, len(nodes.Items))
	}
	return nodes.Items[0].Name
}

func TestACacheThatCatchesUpIsWhatIsRead(t *testing.T) {
	s := newStage(t)
	if got := s.list(t); got != "in-cache" {
		t.Errorf("read %s", got)
	}
}

func TestACacheThatDoesNotCatchUpIsReadPast(t *testing.T) {
	s := newStage(t)
	s.isBehind = true
	s.after(20 * time.Second)
	if got := s.list(t); got != "in-store" {
		t.Errorf("listed %s", got)
	}
	s.after(20 * time.Second)
	if err := s.Get(t.Context(), client.ObjectKey{Name: "in-store"}, &corev1.Node{}); err != nil {
		t.Error(err)
	}
	s.after(100 * time.Millisecond) // Once is enough to know.
	if got := s.list(t); got != "in-store" {
		t.Errorf("listed %s", got)
	}
	s.isBehind = false
	if got := s.list(t); got != "in-cache" {
		t.Errorf("once it has caught up, listed %s", got)
	}
}

func TestAReadEndsWithItsContext(t *testing.T) {
	s := newStage(t)
	s.isBehind = true
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.waiting
		cancel()
	}()
	if err := s.List(ctx, &corev1.NodeList{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
}

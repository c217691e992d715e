package apiserver_test

import (
	"context"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane"
	"github.com/nmstate/kubernetes-nmstate/e2e/controlplane/controlplanetest"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver/conformance"
)

func TestARealAPIServerKeepsWhatTheModelDoes(t *testing.T) {
	plane := controlplanetest.Start(t, os.Getenv, controlplane.Options{CRDs: "../../deploy/crds"})
	config, err := plane.RESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	conformance.Run(t, &realServer{t: t, config: config, scheme: scheme(t), collects: plane.HasGarbageCollector()})
}

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	made := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1.AddToScheme, corev1.AddToScheme} {
		if err := add(made); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

type realServer struct {
	t        *testing.T
	config   *rest.Config
	scheme   *runtime.Scheme
	collects bool
}

func (r *realServer) As(manager string) client.Client {
	config := rest.CopyConfig(r.config)
	config.UserAgent = manager + "/test"
	api, err := client.New(config, client.Options{Scheme: r.scheme})
	if err != nil {
		r.t.Fatal(err)
	}
	return api
}

func (r *realServer) Collects() bool { return r.collects }

func (r *realServer) Eventually(t *testing.T, condition func() error) {
	t.Helper()
	controlplanetest.Eventually(t, func(context.Context) error { return condition() })
}

func (r *realServer) Cached(t *testing.T, options cache.Options, like client.Object, indexes map[string]client.IndexerFunc) conformance.Cached {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	options.Scheme = r.scheme
	made, err := cache.New(r.config, options)
	must(err)
	c := &realCache{Cache: made, t: t, server: r}
	for field, extract := range indexes {
		must(made.IndexField(t.Context(), like, field, extract))
	}
	informer, err := made.GetInformer(t.Context(), like, cache.BlockUntilSynced(false))
	must(err)
	handler, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.tell(nil, o) },
		UpdateFunc: func(old, o any) { c.tell(old, o) },
		DeleteFunc: func(o any) { c.tell(o, nil) },
	})
	must(err)
	if made.Get(t.Context(), client.ObjectKey{Name: "x"}, like) == nil {
		t.Error("a cache that was not started answers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- made.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if !toolscache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		t.Fatal("the cache has not listed")
	}
	return c
}

type realCache struct {
	cache.Cache

	t       *testing.T
	server  *realServer
	mu      sync.Mutex
	changes []conformance.Change
}

func (c *realCache) tell(old, made any) {
	change := conformance.Change{}
	if old != nil {
		change.Old = old.(client.Object)
	}
	if made != nil {
		change.New = made.(client.Object)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes = append(c.changes, change)
}

func (c *realCache) Changes() []conformance.Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]conformance.Change(nil), c.changes...)
}

func (c *realCache) Consistent() client.Client {
	api, err := client.New(c.server.config, client.Options{
		Scheme: c.server.scheme, Cache: &client.CacheOptions{Reader: c.Cache, EnableReadYourWritesConsistency: new(true)},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return api
}

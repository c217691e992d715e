package watch_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/nmstate/kubernetes-nmstate/handler/watch"
)

// emptyManager knows an API server that is not there.
func emptyManager(t *testing.T) manager.Manager {
	t.Helper()
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme:  clientgoscheme.Scheme,
		Metrics: server.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			known := meta.NewDefaultRESTMapper(nil)
			known.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
			return known, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

func runUntilEnded(ctx context.Context, t *testing.T, mgr manager.Manager) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- watch.Run(ctx, mgr) }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it still runs a minute after its context has ended")
	}
}

func TestAManagerWhoseCachesAreNeverFilledEnds(t *testing.T) {
	mgr := emptyManager(t)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, cancel) // It is in the midst of waiting then, or has not begun to.
	runUntilEnded(ctx, t, mgr)
}

func TestAManagerIsWaitedForUntilWhatItRunsHasEnded(t *testing.T) {
	mgr := emptyManager(t)
	ctx, cancel := context.WithCancel(t.Context())
	tidied := false
	if err := mgr.Add(manager.RunnableFunc(func(asked context.Context) error {
		cancel()
		<-asked.Done()
		tidied = true
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	runUntilEnded(ctx, t, mgr)
	if !tidied {
		t.Error("it has not ended")
	}
}

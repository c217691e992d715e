package access

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// readyTimeout is shorter than a kubelet's.
const readyTimeout = time.Second

// CachesFilled is a check that a process knows the cluster.
func CachesFilled(caches interface{ WaitForCacheSync(context.Context) bool }) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), readyTimeout)
		defer cancel()
		if !caches.WaitForCacheSync(ctx) {
			return errors.New("the caches are not filled yet")
		}
		return nil
	}
}

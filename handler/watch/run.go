package watch

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Run runs the manager until ctx ends. A manager whose caches are not filled then, since
// a CRD is missing or the API server refuses, waits for them for ever and takes a whole
// core to do it (controller-runtime#3440): nothing of it has begun, so it is left to
// the process' end.
func Run(ctx context.Context, mgr manager.Manager) error {
	filled := make(chan struct{})
	if err := mgr.Add(first(func() { close(filled) })); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-filled:
		return <-ended
	case err := <-ended:
		return err
	default:
		return nil
	}
}

// first is told when the caches are filled. A manager begins the likes of it then,
// whoever leads.
type first func()

// Start tells it.
func (f first) Start(ctx context.Context) error {
	f()
	<-ctx.Done()
	return nil
}

// NeedLeaderElection is false: it waits for no Lease.
func (first) NeedLeaderElection() bool { return false }

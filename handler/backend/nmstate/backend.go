package nmstate

import (
	"context"
	"errors"
	"fmt"
	"io"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// ErrNotBuilt is what New returns in a program without libnmstate.
var ErrNotBuilt = errors.New("built without libnmstate: build with `make build`, or as hack/libnmstate.sh --env says")

// Options are what the backend stands on.
type Options struct {
	// Executable is the program that has ChildCommand: the handler itself.
	Executable string
	// RevertHelper is the path of nmstate-revert. Empty: reverts are less
	// exact (see the package's documentation).
	RevertHelper string
	// Bus is the address of NetworkManager's D-Bus, for tests. Empty: the
	// system bus, found as libnmstate finds it. Show always uses the latter.
	Bus string
	// Root is where the root of NetworkManager's file system is seen, for
	// tests. Empty: NetworkManager's files are where they are for it.
	Root string
	// Commands has scripts of NetworkManager's dispatcher read and written. Without, nobody
	// touches them.
	Commands bool
	// Logs takes libnmstate's log of applies, JSON arrays. Nil: dropped.
	Logs io.Writer
	// Clock tells how long a read takes.
	Clock clock.PassiveClock
}

// Backend is the node's network through libnmstate and NetworkManager.
type Backend struct {
	options Options
	disk    disk
	clock   clock.PassiveClock
	// reading holds a token while a read is on: a read that NetworkManager
	// does not answer cannot be cancelled, and one stuck read is enough.
	reading chan struct{}
}

var _ backend.Backend = (*Backend)(nil)

// New returns the backend of the node that this process runs on. It needs no
// NetworkManager yet. ErrNotBuilt: this program has no libnmstate.
func New(options Options) (*Backend, error) {
	if !built {
		return nil, ErrNotBuilt
	}
	if options.Executable == "" {
		return nil, errors.New("the backend needs the path of the program that applies")
	}
	if options.Clock == nil {
		return nil, errors.New("the backend needs a clock")
	}
	return &Backend{options: options, disk: disk{root: options.Root}, clock: options.Clock, reading: make(chan struct{}, 1)}, nil
}

// with calls do with a connection to NetworkManager.
func (b *Backend) with(ctx context.Context, do func(*systemBus) error) error {
	m, err := dialled(ctx, b.options.Bus)
	if err != nil {
		return err
	}
	defer m.close()
	return do(m)
}

// Show implements backend.Backend.
func (b *Backend) Show(ctx context.Context) (state.State, error) {
	// Without NetworkManager libnmstate may wait for D-Bus to start it.
	if err := b.with(ctx, func(*systemBus) error { return nil }); err != nil {
		return state.State{}, fmt.Errorf("reading the network state: %w", err)
	}
	select {
	case b.reading <- struct{}{}:
	case <-ctx.Done():
		return state.State{}, fmt.Errorf("reading the network state: %w", context.Cause(ctx))
	}
	type reading struct {
		raw string
		err error
	}
	done := make(chan reading, 1)
	go func() {
		defer func() { <-b.reading }()
		raw, err := retrieve()
		done <- reading{raw, err}
	}()
	select {
	case read := <-done:
		if read.err != nil {
			return state.State{}, fmt.Errorf("reading the network state: %w", classified(failureOf(read.err)))
		}
		found, err := state.Parse([]byte(read.raw))
		if err == nil && b.options.Commands {
			found, err = b.disk.withScripts(found)
		}
		return found, err
	case <-ctx.Done():
		return state.State{}, fmt.Errorf("reading the network state: %w", context.Cause(ctx))
	}
}

// Commit implements backend.Backend. It asks NetworkManager itself: unlike
// libnmstate it never takes another checkpoint, and its answer is exact.
func (b *Backend) Commit(ctx context.Context, checkpoint backend.Checkpoint) error {
	if err := named(checkpoint); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	err := b.with(ctx, func(m *systemBus) error { return m.destroy(ctx, checkpoint) })
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// Rollback implements backend.Backend. It returns when NetworkManager has
// answered; addresses may come back a moment later.
func (b *Backend) Rollback(ctx context.Context, checkpoint backend.Checkpoint) error {
	if err := named(checkpoint); err != nil {
		return fmt.Errorf("rolling back: %w", err)
	}
	err := b.with(ctx, func(m *systemBus) error { return m.rollback(ctx, checkpoint) })
	if err != nil {
		return fmt.Errorf("rolling back: %w", err)
	}
	return nil
}

// Pending implements backend.Backend.
func (b *Backend) Pending(ctx context.Context) (found []backend.Pending, err error) {
	err = b.with(ctx, func(m *systemBus) error {
		found, err = m.pending(ctx)
		return err
	})
	return found, err
}

// Instance implements backend.Backend.
func (b *Backend) Instance(ctx context.Context) (instance string, err error) {
	err = b.with(ctx, func(m *systemBus) error {
		instance, err = m.instance(ctx)
		return err
	})
	return instance, err
}

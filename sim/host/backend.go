package host

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Backend is the port handler/backend.Backend of a process.
func (h *Host) Backend(p *world.Process) backend.Backend { return &backendPort{h, p} }

type backendPort struct {
	host    *Host
	process *world.Process
}

const portName = "backend"

// call carries out a call. A fault of the call is one of the ways in which the
// production backend fails without a word of NetworkManager's: nothing of the
// port's errors can be said of it.
func (b *backendPort) call(ctx context.Context, doing, verb, object string, do func() error) error {
	err := b.process.Call(ctx, portName, verb, object, do)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, world.ErrFailed):
		err = errors.New("no connection to D-Bus: injected")
	case errors.Is(err, world.ErrLost):
		err = errors.New("the connection to D-Bus ended without an answer: injected")
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Show implements backend.Backend.
func (b *backendPort) Show(ctx context.Context) (shown state.State, err error) {
	err = b.call(ctx, "reading the network state", "show", b.host.Name, func() error {
		if err := b.host.answers(ctx, b.process, 0); err != nil {
			return err
		}
		if fault := b.host.Faults.Show; fault != nil {
			if err := fault(); err != nil {
				return err
			}
		}
		shown = b.host.Show()
		return nil
	})
	return shown, err
}

// Apply implements backend.Backend.
func (b *backendPort) Apply(ctx context.Context, desired state.State, rollbackAfter time.Duration, armed func(backend.Checkpoint)) (made backend.Checkpoint, held profiles.Files, err error) {
	if rollbackAfter <= 0 {
		return "", nil, errors.New("applying: a trial needs a time after which it undoes itself")
	}
	a := &apply{host: b.host, process: b.process, desired: desired, life: wholeSeconds(rollbackAfter), armed: armed}
	err = b.call(ctx, "applying", "apply", summary(desired), func() error { return a.run(ctx) })
	if err != nil {
		return "", nil, err
	}
	return a.checkpoint.path, a.held, nil
}

// wholeSeconds rounds up, as NetworkManager counts.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}

// summary names what a state is about, for the trace.
func summary(desired state.State) string {
	var names []string
	for _, one := range desired.Interfaces() {
		names = append(names, one.Name)
	}
	if n := len(desired.Routes()); n > 0 {
		names = append(names, fmt.Sprintf("%d routes", n))
	}
	return strings.Join(names, " ")
}

// Commit implements backend.Backend.
func (b *backendPort) Commit(ctx context.Context, checkpoint backend.Checkpoint) error {
	return b.end(ctx, "committing", "commit", checkpoint, func(c *trial) {
		b.host.drop(c)
		b.host.reportBy(c, CheckpointCommitted, b.process.Name)
	})
}

// Rollback implements backend.Backend. It returns when NetworkManager has
// answered; addresses come back a moment later.
func (b *backendPort) Rollback(ctx context.Context, checkpoint backend.Checkpoint) error {
	return b.end(ctx, "rolling back", "rollback", checkpoint, func(c *trial) {
		b.host.drop(c)
		b.host.restore(c)
		b.host.reportBy(c, CheckpointRolledBack, b.process.Name)
	})
}

func (b *backendPort) end(ctx context.Context, doing, verb string, path backend.Checkpoint, end func(*trial)) error {
	return b.call(ctx, doing, verb, strings.TrimPrefix(string(path), checkpointPrefix), func() error {
		if err := b.host.answers(ctx, b.process, answerWithin); err != nil {
			return err
		}
		c := b.host.alive(path)
		if c == nil {
			return fmt.Errorf("%w: %q", backend.ErrGone, path)
		}
		end(c)
		return nil
	})
}

// Pending implements backend.Backend.
func (b *backendPort) Pending(ctx context.Context) (found []backend.Pending, err error) {
	err = b.call(ctx, "listing the checkpoints", "pending", "", func() error {
		if err := b.host.answers(ctx, b.process, answerWithin); err != nil {
			return err
		}
		for _, c := range b.host.nm.checkpoints {
			found = append(found, backend.Pending{Checkpoint: c.path, CreatedBoot: c.created, RollbackAfter: c.life})
		}
		return nil
	})
	return found, err
}

// Instance implements backend.Backend.
func (b *backendPort) Instance(ctx context.Context) (instance string, err error) {
	err = b.call(ctx, "asking for NetworkManager", "instance", "", func() error {
		// The bus answers this, though NetworkManager may hang.
		if !b.host.nm.running {
			return fmt.Errorf("%w: it is not running", backend.ErrUnavailable)
		}
		instance = b.host.instance()
		return nil
	})
	return instance, err
}

// Revert implements backend.Backend.
func (b *backendPort) Revert(ctx context.Context, desired, current state.State) (revert state.State, err error) {
	err = b.call(ctx, "computing the way back", "revert", summary(desired), func() error {
		revert = wayBack(desired, current)
		return nil
	})
	return revert, err
}

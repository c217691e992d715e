package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// The signals by which the command control-plane is told from outside what to
// do with its API server. SIGINT and SIGTERM end all of it.
const (
	SignalStopAPIServer  = syscall.SIGUSR1
	SignalStartAPIServer = syscall.SIGUSR2
)

const (
	remotePoll    = 50 * time.Millisecond
	remoteTimeout = 2 * time.Minute
)

// ErrNotRunning is returned where no control plane runs in the folder.
var ErrNotRunning = errors.New("no control plane is running in this folder")

// Remote is a control plane that the command control-plane runs in another
// process.
type Remote struct {
	files Files
}

// Attach finds the control plane that runs in a folder, ErrNotRunning if none
// does.
func Attach(dir string) (*Remote, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Remote{files: Files{Dir: dir}}
	if _, err := r.pid(); err != nil {
		return nil, err
	}
	return r, nil
}

// StopAPIServer stops the API server and returns when it listens no more.
func (r *Remote) StopAPIServer(ctx context.Context) error {
	port := readNumber(r.files.port())
	return r.signal(ctx, SignalStopAPIServer, "the API server to stop", func(context.Context) bool {
		return tryPort(port) == nil
	})
}

// StartAPIServer starts the API server again and returns when it is ready.
func (r *Remote) StartAPIServer(ctx context.Context) error {
	config, err := r.files.RESTConfig()
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	client.Timeout = readyRequestTimeout
	defer client.CloseIdleConnections()
	return r.signal(ctx, SignalStartAPIServer, "the API server to be ready", func(ctx context.Context) bool {
		return answersReady(ctx, client, config.Host)
	})
}

// Stop ends the control plane. What it kept stays in the folder.
func (r *Remote) Stop(ctx context.Context) error {
	return r.signal(ctx, syscall.SIGTERM, "the control plane to end", func(context.Context) bool {
		_, err := r.pid()
		return errors.Is(err, ErrNotRunning)
	})
}

// pid is safe to signal: only a live process can hold the lock.
func (r *Remote) pid() (int, error) {
	pid, err := holder(r.files.PIDFile())
	if err != nil {
		return 0, err
	}
	if pid == 0 {
		return 0, fmt.Errorf("%w: %s", ErrNotRunning, r.files.Dir)
	}
	return pid, nil
}

func (r *Remote) signal(ctx context.Context, signal syscall.Signal, what string, done func(context.Context) bool) error {
	pid, err := r.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("signalling process %d of the control plane in %s: %w", pid, r.files.Dir, err)
	}
	err = wait.PollUntilContextTimeout(ctx, remotePoll, remoteTimeout, true, func(ctx context.Context) (bool, error) {
		if done(ctx) {
			return true, nil
		}
		_, err := r.pid()
		return false, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %s in %s: %w", what, r.files.Dir, err)
	}
	return nil
}

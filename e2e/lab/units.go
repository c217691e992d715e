//go:build linux

package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/utils/clock"
)

// unit is a program that a supervisor runs.
type unit struct {
	name    string
	argv    []string
	env     []string
	path    string // goes before systemPath, with a colon at its end
	logFile string
	restart bool // start again after it ended by itself
	// before and ready surround the start; both may be nil.
	before func() error
	ready  func(context.Context) error
	// gate has to return nil once, before the first start; nil: none.
	gate func(context.Context) error

	open     bool          // gate has returned nil
	held     bool          // gate is asked again and again
	pid      int           // 0: does not run
	wanted   bool          // nobody stopped it
	ended    chan struct{} // closed when pid has ended
	restarts int
	reason   string
}

// supervisor runs units as the pid 1 of a namespace: it reaps every orphan.
type supervisor struct {
	clock clock.Clock

	mu    sync.Mutex
	units []*unit
}

// backOff is the pause before a restart after a crash: short, because a test
// waits for it; a DaemonSet's first one is ten times as long.
const backOff = time.Second

func newSupervisor(c clock.Clock, units ...*unit) *supervisor {
	return &supervisor{clock: c, units: units}
}

func (s *supervisor) unit(name string) (*unit, error) {
	for _, u := range s.units {
		if u.name == name {
			return u, nil
		}
	}
	return nil, fmt.Errorf("nothing called %q runs here", name)
}

// reap collects ended children until ctx ends.
func (s *supervisor) reap(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD)
	defer signal.Stop(signals)
	for {
		for s.reapOne(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
	}
}

// undisturbed runs what waits for a child of its own, which would be collected as an orphan
// otherwise.
func (s *supervisor) undisturbed(run func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return run()
}

// reapOne holds the lock, so that a child that ends at once is not collected
// before start has noted whose it is.
func (s *supervisor) reapOne(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if err != nil || pid <= 0 {
		return errors.Is(err, syscall.EINTR)
	}
	for _, u := range s.units {
		if u.pid != pid {
			continue
		}
		u.pid, u.reason = 0, describe(status)
		close(u.ended)
		if u.wanted && u.restart {
			go s.startLater(ctx, u)
		}
	}
	return true
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "ended by " + unix.SignalName(status.Signal())
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

func (s *supervisor) startLater(ctx context.Context, u *unit) {
	select {
	case <-ctx.Done():
		return
	case <-s.clock.After(backOff):
	}
	s.mu.Lock()
	wanted := u.wanted && u.pid == 0
	if wanted {
		u.restarts++
	}
	s.mu.Unlock()
	if !wanted {
		return
	}
	if err := s.start(ctx, u.name); err != nil {
		fmt.Fprintf(os.Stderr, "restarting %s: %v\n", u.name, err)
	}
}

// start runs a unit, if it does not run, and waits until it is ready. One whose
// gate is shut is started when that opens, which is not waited for.
func (s *supervisor) start(ctx context.Context, name string) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	if !s.pass(ctx, u) {
		return nil
	}
	started, err := s.fork(u)
	if err != nil || !started || u.ready == nil {
		return err
	}
	// One that ends instead of becoming ready is not waited for.
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	ended := u.ended
	s.mu.Unlock()
	go func() {
		select {
		case <-ended:
			cancel()
		case <-alive.Done():
		}
	}()
	if err := u.ready(alive); err != nil {
		return fmt.Errorf("%s does not become ready: %w (log: %s)", name, err, lastLines(u.logFile, 3))
	}
	return nil
}

func (s *supervisor) fork(u *unit) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.wanted = true
	if u.pid != 0 {
		return false, nil
	}
	if u.before != nil {
		if err := u.before(); err != nil {
			return false, fmt.Errorf("preparing %s: %w", u.name, err)
		}
	}
	path, err := exec.LookPath(u.argv[0])
	if err != nil {
		return false, fmt.Errorf("finding %s: %w", u.name, err)
	}
	log, err := os.OpenFile(u.logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND|unix.O_DSYNC, 0o644)
	if err != nil {
		return false, fmt.Errorf("opening the log of %s: %w", u.name, err)
	}
	defer func() { _ = log.Close() }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return false, fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	defer func() { _ = null.Close() }()
	pid, err := syscall.ForkExec(path, u.argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   append([]string{"PATH=" + u.path + systemPath, "HOME=/root", "LANG=C.UTF-8"}, u.env...),
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return false, fmt.Errorf("starting %s: %w", u.name, err)
	}
	u.pid, u.reason, u.ended = pid, "", make(chan struct{})
	return true, nil
}

// stop sends a signal. With wanted false the unit stays stopped and stop waits
// for its end; with wanted true it is a crash, and what follows is the unit's.
func (s *supervisor) stop(ctx context.Context, name string, sig syscall.Signal, wanted bool) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	u.wanted = wanted
	pid, ended := u.pid, u.ended
	if pid != 0 {
		// One that is paused has to wake up for it.
		err = errors.Join(syscall.Kill(pid, sig), syscall.Kill(pid, syscall.SIGCONT))
	}
	s.mu.Unlock()
	if pid == 0 || err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s has not ended: %w", name, ctx.Err())
	}
}

// signal is for what does not end a unit.
func (s *supervisor) signal(name string, sig syscall.Signal) error {
	u, err := s.unit(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.pid == 0 {
		return fmt.Errorf("%s does not run", name)
	}
	return syscall.Kill(u.pid, sig)
}

func (s *supervisor) status() []UnitStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []UnitStatus
	for _, u := range s.units {
		st := UnitStatus{Name: u.name, PID: u.pid, Restarts: u.restarts, Reason: u.reason, State: "running"}
		switch {
		case u.pid != 0:
		case !u.wanted:
			st.State = "stopped"
		case u.held:
			st.State = "held"
		case u.restart:
			st.State = "waiting"
		default:
			st.State = "exited"
		}
		all = append(all, st)
	}
	return all
}

// entered waits until the log of a unit tells of a phase.
func (s *supervisor) entered(ctx context.Context, req request) (waited int, err error) {
	u, err := s.unit(req.Target)
	if err != nil {
		return 0, err
	}
	return req.In.await(ctx, u.logFile)
}

// answer carries out the requests that nodes and the fabric have in common.
func (s *supervisor) answer(ctx context.Context, req request) response {
	var err error
	waited := 0
	if req.In != nil {
		if waited, err = s.entered(ctx, req); err != nil {
			return response{Error: err.Error()}
		}
	}
	switch req.Verb {
	case "status":
		return response{Units: s.status()}
	case "start":
		err = s.start(ctx, req.Target)
	case "stop":
		err = s.stop(ctx, req.Target, syscall.SIGTERM, false)
	case "kill":
		err = s.stop(ctx, req.Target, syscall.SIGKILL, true)
	case "halt":
		err = s.stop(ctx, req.Target, syscall.SIGKILL, false)
	case "pause":
		err = s.signal(req.Target, syscall.SIGSTOP)
	case "resume":
		err = s.signal(req.Target, syscall.SIGCONT)
	case "restart":
		if err = s.stop(ctx, req.Target, syscall.SIGTERM, false); err == nil {
			err = s.start(ctx, req.Target)
		}
	default:
		err = fmt.Errorf("unknown request %q", req.Verb)
	}
	if err != nil {
		return response{Error: err.Error()}
	}
	return response{Units: s.status(), Waited: waited}
}

//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Roles of the lab's own long-lived processes: argv[1] of each.
const (
	roleFabric       = "fabric"
	roleNode         = "node-init"
	roleControlPlane = "control-plane"
	roleVM           = "vm"
	roleVMAgent      = "vm-agent" // in the VM
)

// process is a long-lived process of a lab. It is found by its arguments and
// not by a written-down pid: so a pid used anew is never taken for it, and no
// moment exists in which a killed `lab up` leaves one that nobody knows.
type process struct {
	pid  int
	role string
	dir  string
}

// findProcesses lists the processes whose state folder is dir or lies in it.
func findProcesses(dir string) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok && within(p.dir, dir) {
			found = append(found, p)
		}
	}
	return found, nil
}

// readProcess tells whether a process is one of a lab's: it was started as
// "EXECUTABLE ROLE --dir FOLDER". One that has just gone is none.
func readProcess(pid int) (process, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return process{}, false
	}
	args := bytes.Split(bytes.TrimSuffix(raw, []byte{0}), []byte{0})
	if len(args) != 4 || string(args[2]) != "--dir" {
		return process{}, false
	}
	role := string(args[1])
	if !slices.Contains([]string{roleFabric, roleNode, roleControlPlane, roleVM}, role) {
		return process{}, false
	}
	return process{pid: pid, role: role, dir: string(args[3])}, true
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// findOne returns the process of a role with exactly this folder.
func findOne(role, dir string) (process, error) {
	all, err := findProcesses(dir)
	if err != nil {
		return process{}, err
	}
	for _, p := range all {
		if p.role == role && p.dir == dir {
			return p, nil
		}
	}
	return process{}, fmt.Errorf("%s is not running (folder %s)", role, dir)
}

// kill ends a process with SIGKILL and waits until it is gone, and with it, where
// it is the pid 1 of a namespace, everything in that. The control plane is none;
// it is asked first, and ends its children itself.
func (p process) kill(ctx context.Context) error {
	if p.role == roleControlPlane {
		grace, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if p.end(grace, unix.SIGTERM) == nil {
			return nil
		}
	}
	return p.end(ctx, unix.SIGKILL)
}

// end sends a signal and waits for the end of the process.
func (p process) end(ctx context.Context, signal unix.Signal) error {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening process %d: %w", p.pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// The descriptor now stands for one process for good; is it still ours?
	if again, ok := readProcess(p.pid); !ok || again != p {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, signal, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("ending %s (pid %d): %w", p.role, p.pid, err)
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		switch {
		case n > 0:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("waiting for %s (pid %d) to end: %w", p.role, p.pid, err)
		case ctx.Err() != nil:
			return fmt.Errorf("%s (pid %d) got %s and has not ended: %w", p.role, p.pid, unix.SignalName(signal), ctx.Err())
		}
	}
}

// spawn starts a long-lived process of the lab, detached, with new namespaces.
// Its log is FOLDER/ROLE.log.
func (l *Lab) spawn(ctx context.Context, role, dir string, namespaces uintptr, files ...*os.File) (spawned, error) {
	logName := filepath.Join(dir, role+".log")
	log, err := os.OpenFile(logName, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return spawned{}, fmt.Errorf("opening the log of %s: %w", role, err)
	}
	defer func() { _ = log.Close() }()
	// It outlives this command, which may be `lab up`.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.opts.Binary, role, "--dir", dir)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, "/"
	cmd.Env = []string{"PATH=" + systemPath, "HOME=/root", "LANG=C.UTF-8"}
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Setsid: true}
	if err := cmd.Start(); err != nil {
		return spawned{}, fmt.Errorf("starting %s: %w", role, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // How it ended, its log tells.
	}()
	return spawned{lab: l, role: role, dir: dir, ended: ended}, nil
}

// until calls f every few milliseconds until it says done, fails, or ctx ends;
// what names the thing in the error.
func (l *Lab) until(ctx context.Context, what string, f func() (bool, error)) error {
	tick := l.opts.Clock.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		done, err := f()
		if done {
			return err
		}
		last = err
		select {
		case <-ctx.Done():
			if last == nil {
				last = errors.New("not yet")
			}
			return fmt.Errorf("waiting for %s: %w (%w)", what, last, ctx.Err())
		case <-tick.C():
		}
	}
}

// lastLines returns the end of a log, for an error message.
func lastLines(path string, n int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

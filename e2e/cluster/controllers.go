//go:build linux

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// startControllers starts the controllers, detached: they may outlive this
// process, as the lab does.
func startControllers(ctx context.Context, executable, kubeconfig, logFile string, args ...string) error {
	executable, err := filepath.Abs(executable)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(logFile), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), executable, append([]string{"--kubeconfig", kubeconfig, "--leader-elect=false"}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // only to reap it
	return nil
}

// endControllers ends those that work on the lab of that name, wherever they
// were started. A pid that was written down could be another process by now;
// their arguments cannot be another's.
func endControllers(ctx context.Context, root, name string) error {
	mark := markOf(root, name)
	found, err := controllersWith(mark)
	if err != nil {
		return err
	}
	for _, pid := range found {
		if err := endIf(ctx, pid, mark); err != nil {
			return fmt.Errorf("ending the controllers (pid %d): %w", pid, err)
		}
	}
	return nil
}

// markOf is in the arguments of controllers that work on the lab of that name.
func markOf(root, name string) []byte {
	return []byte("\x00--kubeconfig\x00" + filepath.Join(root, name) + "/")
}

// controllersWith are the processes that are controllers with that mark.
func controllersWith(mark []byte) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && ours(pid, mark) {
			found = append(found, pid)
		}
	}
	return found, nil
}

// endIf kills a process that is controllers with that mark in its arguments and
// waits for its end. They hold nothing that a kill could spoil.
func endIf(ctx context.Context, pid int, mark []byte) error {
	if !ours(pid, mark) {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if !ours(pid, mark) { // the descriptor is of one process for good
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100)
		if n > 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
			return err
		}
	}
	return ctx.Err()
}

func ours(pid int, mark []byte) bool {
	args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	program, _, _ := bytes.Cut(args, []byte{0})
	return filepath.Base(string(program)) == "controllers" && bytes.Contains(args, mark)
}

//go:build linux

package lab

import (
	"fmt"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Kinds of namespaces that a thread may join at once.
const (
	netOnly = unix.CLONE_NEWNET
	nodeAll = unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUTS | unix.CLONE_NEWPID
)

// inside runs f on a thread that has joined namespaces of process pid. The
// thread is thrown away afterwards, so nothing can leak from it; whatever f
// starts must have ended before f returns.
func inside(pid, kinds int, f func() error) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("opening process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(fd) }()
	return onOwnThread(func() error {
		// A thread that shares its root folder with others may not change its
		// mount namespace.
		if kinds&unix.CLONE_NEWNS != 0 {
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("unsharing the thread's root: %w", err)
			}
		}
		if err := unix.Setns(fd, kinds); err != nil {
			return fmt.Errorf("joining the namespaces of process %d: %w", pid, err)
		}
		return f()
	})
}

// onOwnThread runs f on a thread that no other goroutine ever uses again. It is
// never the process's first thread, because /proc/PID shows that one's
// namespaces.
func onOwnThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- onOwnThread(f) // holds the first thread while another one works
			runtime.UnlockOSThread()
			return
		}
		done <- f()
	}()
	return <-done
}

// netlinkOf opens a netlink handle in the network namespace of a process. The
// caller closes it.
func netlinkOf(pid int) (*netlink.Handle, error) {
	var h *netlink.Handle
	err := inside(pid, netOnly, func() error {
		var err error
		h, err = netlink.NewHandle()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening netlink: %w", err)
	}
	return h, nil
}

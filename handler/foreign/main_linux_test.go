package foreign

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

const insideKey = "NMSTATE_TEST_PRIVATE_NETWORK"

// TestMain runs the tests once more in a network namespace of their own, so
// that every thread of the process is in it and the machine's is never touched.
func TestMain(m *testing.M) {
	if os.Getenv(insideKey) == "" {
		if code, ran := again(); ran {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

func again() (code int, ran bool) {
	self := exec.Command("/proc/self/exe", os.Args[1:]...)
	self.Env = append(os.Environ(), insideKey+"=1")
	self.Stdin, self.Stdout, self.Stderr = os.Stdin, os.Stdout, os.Stderr
	self.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		self.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		self.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		self.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	}
	err := self.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), true
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no network namespace of our own, its tests will be skipped:", err)
		return 0, false
	}
	return 0, true
}

// privateNetwork skips the test outside of a namespace of our own, and readies
// the namespace's loopback.
func privateNetwork(t *testing.T) netlink.Link {
	t.Helper()
	if os.Getenv(insideKey) == "" {
		skip(t, "this process may not make a network namespace (run as root)")
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	err = netlink.LinkSetUp(loopback)
	if errors.Is(err, os.ErrPermission) { // Some distributions grant the namespace, but no rights in it.
		skip(t, "this process has no rights in its own network namespace (run as root)")
	}
	if err != nil {
		t.Fatal(err)
	}
	return loopback
}

func skip(t *testing.T, reason string) {
	t.Helper()
	if os.Getenv("NMSTATE_STRICT") == "1" {
		t.Fatal("not skipped in strict mode: " + reason)
	}
	t.Skip("skipped: " + reason)
}

//go:build linux && cgo && nmstate

package nmstate

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// insideNode in the environment marks the test binary that runs in a node.
const insideNode = "NMSTATE_TEST_NODE"

// cannotBeNode is why this machine cannot have a node; tests print it.
var cannotBeNode string

// TestMain runs the whole test binary once more in namespaces of its own,
// where the tests may do to the network what they like: whatever becomes of
// them, the namespaces go with the process and the host has seen nothing.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "apply":
		os.Exit(applyChild())
	case os.Getenv(victim) != "": // Started inside of a node.
		os.Exit(m.Run())
	case os.Getenv(insideNode) != "":
		if err := enterNode(); err != nil {
			fmt.Fprintf(os.Stderr, "making a node: %v\n", err)
			os.Exit(1)
		}
		os.Exit(m.Run())
	}
	if cannotBeNode = missing(); cannotBeNode != "" {
		os.Exit(m.Run())
	}
	os.Exit(again())
}

func missing() string {
	if os.Geteuid() != 0 {
		return "a node in namespaces needs root"
	}
	if os.Getenv("NMSTATE_NODE_ROOT") != "" {
		return ""
	}
	for _, program := range []string{"NetworkManager", "dbus-daemon"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("a node needs %s: apt-get install network-manager, or dnf install NetworkManager", program)
		}
	}
	return ""
}

// applyChild is what the handler's binary does when the backend starts it.
func applyChild() int {
	command := ChildCommand()
	command.SetArgs(os.Args[2:])
	if err := command.Execute(); err != nil {
		return 1
	}
	return 0
}

func again() int {
	// The node dies with this thread, so it has to live as long as we do.
	runtime.LockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), insideNode+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC,
		Pdeathsig:  syscall.SIGKILL,
	}
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return max(1, ended.ExitCode())
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "making namespaces: %v\n", err)
		return 1
	}
	return 0
}

type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

// enterNode makes the file systems of this process a node's: nothing that is
// written here is seen outside. With NMSTATE_NODE_ROOT the node's programs are
// those of that root (see hack/noderoot.sh), else the machine's.
func enterNode() error {
	if err := mounted(mount{"", "/", "", syscall.MS_REC | syscall.MS_PRIVATE, ""}); err != nil {
		return err
	}
	if root := os.Getenv("NMSTATE_NODE_ROOT"); root != "" {
		if err := enterRoot(root); err != nil {
			return err
		}
	}
	const data = "/run/node"
	err := mounted(
		mount{"proc", "/proc", "proc", 0, ""},
		mount{"sysfs", "/sys", "sysfs", 0, ""},
		mount{"tmpfs", "/run", "tmpfs", 0, "mode=755"},
	)
	if err != nil {
		return err
	}
	for _, dir := range []string{data + "/etc", data + "/work", data + "/nm", "/run/dbus", "/run/NetworkManager"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	err = mounted(
		mount{"overlay", "/etc", "overlay", 0, "lowerdir=/etc,upperdir=" + data + "/etc,workdir=" + data + "/work"},
		mount{data + "/nm", "/var/lib/NetworkManager", "", syscall.MS_BIND, ""},
	)
	if err != nil {
		return err
	}
	return syscall.Sethostname([]byte("node"))
}

func mounted(mounts ...mount) error {
	for _, one := range mounts {
		if err := syscall.Mount(one.source, one.target, one.kind, one.flags, one.data); err != nil {
			return fmt.Errorf("mounting %s: %w", one.target, err)
		}
	}
	return nil
}

// enterRoot changes into a copy of root that keeps its changes in memory, with
// what this test needs of the machine at the same paths.
func enterRoot(root string) error {
	const over, copied = "/run", "/run/copy"
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	if err := mounted(mount{"tmpfs", over, "tmpfs", 0, ""}); err != nil {
		return err
	}
	for _, dir := range []string{copied, over + "/upper", over + "/work"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	err = mounted(mount{"overlay", copied, "overlay", 0, "lowerdir=" + root + ",upperdir=" + over + "/upper,workdir=" + over + "/work"})
	if err != nil {
		return err
	}
	keep := []string{"/dev", here, filepath.Dir(executable), os.TempDir()}
	if revert := os.Getenv("NMSTATE_REVERT"); revert != "" {
		keep = append(keep, filepath.Dir(filepath.Dir(revert)))
	}
	for _, dir := range keep {
		if err := os.MkdirAll(copied+dir, 0o755); err != nil {
			return err
		}
		if err := mounted(mount{dir, copied + dir, "", syscall.MS_BIND | syscall.MS_REC, ""}); err != nil {
			return err
		}
	}
	if err := syscall.Chroot(copied); err != nil {
		return err
	}
	return os.Chdir(here)
}

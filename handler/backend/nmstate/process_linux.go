package nmstate

import (
	"os/exec"
	"syscall"
)

// bound makes the process die with the thread that starts it, and puts it into
// a group of its own, which a cancelled context kills.
func bound(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

package controlplane

import "syscall"

// attributes put a child in a group of its own, so that Ctrl-C reaches only
// the parent, and let the kernel kill it when the parent dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

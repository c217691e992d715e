//go:build !linux

package controlplane

import "syscall"

// attributes put a child in a group of its own, so that Ctrl-C reaches only
// the parent. Only Linux can end it with the parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

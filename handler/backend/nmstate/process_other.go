//go:build !linux

package nmstate

import "os/exec"

// bound does nothing where there is no NetworkManager: a cancelled context
// kills the process, which is os/exec's default.
func bound(*exec.Cmd) {}

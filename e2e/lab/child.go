//go:build linux

package lab

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Child runs one of the lab's long-lived processes when the arguments of this
// executable ask for it: then ok is true and main exits with code. Every binary
// that calls Up has it as the first thing in main or TestMain.
func Child(ctx context.Context, args []string) (code int, ok bool) {
	if len(args) != 4 || args[2] != "--dir" {
		return 0, false
	}
	var run func(context.Context, string) error
	switch args[1] {
	case roleFabric:
		run = runFabric
	case roleNode:
		run = runNode
	case roleControlPlane:
		run = runControlPlane
	case roleVM:
		run = runVM
	case roleVMAgent:
		run = runVMAgent
	default:
		return 0, false
	}
	// A pid 1 is sent no default signals; these are for the control plane.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

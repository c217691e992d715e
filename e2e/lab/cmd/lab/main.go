//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
)

// version is stamped by the linker.
var version = "devel"

// Exit codes: what the machine lacks, and a file that is no report (lab from-nns),
// are told apart from what went wrong.
const (
	exitFailed      = 1
	exitUnavailable = 2
	exitInterrupted = 130
)

func main() {
	ctx := context.Background()
	if code, ok := lab.Child(ctx, os.Args); ok {
		os.Exit(code)
	}
	// What the Kubernetes client has to tell is in our own errors; without a logger
	// it complains of that, with a stack trace, when an up is slow.
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err))
}

// exitCode prints an error, unless it is the end of a program run by lab exec,
// whose exit code is passed on.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	ended := &exec.ExitError{}
	if errors.As(err, &ended) {
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal())
		}
	}
	var exit lab.Exit
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "lab: interrupted, nothing is left behind")
		return exitInterrupted
	}
	fmt.Fprintln(os.Stderr, "lab:", err)
	missing, bad := &lab.UnavailableError{}, &noReportError{}
	if errors.As(err, &missing) || errors.As(err, &bad) {
		return exitUnavailable
	}
	return exitFailed
}

package nmstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// drainAfterKill bounds how long the pipes of an ended process are read.
const drainAfterKill = 2 * time.Second

// process is a program to run to its end.
type process struct {
	path   string
	args   []string
	env    []string // in addition to our own
	stdin  io.Reader
	stderr io.Writer // in addition to the error's text; may be nil
}

// run returns what the process wrote to its standard output. It blocks until
// the process has ended, which it does soon after ctx or when we die.
func (p process) run(ctx context.Context) ([]byte, error) {
	// Linux kills the child when the thread that started it ends, not the
	// process: so nobody else may run on this thread, and end it, meanwhile.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	bound(cmd)
	cmd.WaitDelay = drainAfterKill
	cmd.Env = append(cmd.Environ(), p.env...)
	cmd.Stdin = p.stdin
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	if p.stderr != nil {
		cmd.Stderr = io.MultiWriter(&stderr, p.stderr)
	}
	err := cmd.Run()
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return stdout.Bytes(), fmt.Errorf("%s was killed: %w", cmd.Args[0], context.Cause(ctx))
	}
	return stdout.Bytes(), &processError{name: cmd.Args[0], err: err, stderr: lastLine(stderr.String())}
}

// processError is the end of a process that could not start or failed.
type processError struct {
	name   string
	err    error
	stderr string // the last line
}

func (e *processError) Error() string {
	if e.stderr == "" {
		return e.name + ": " + e.err.Error()
	}
	return e.name + ": " + e.err.Error() + ": " + e.stderr
}

func (e *processError) Unwrap() error { return e.err }

// failedWord is the last line that a failed process wrote to standard error.
func failedWord(err error) string {
	var failed *processError
	if errors.As(err, &failed) {
		return failed.stderr
	}
	return ""
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

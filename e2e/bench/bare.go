//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
)

// bareTimes is what `bench bare` prints: how long libnmstate took.
type bareTimes struct {
	Apply, Commit time.Duration
}

func (t bareTimes) total() time.Duration { return t.Apply + t.Commit }

// bareCheckpoint is the life of the yardstick's checkpoint, in which the commit
// comes at once.
const bareCheckpoint = time.Minute

// noVerify makes `bench bare` leave out libnmstate's own verification, which
// waits a whole second before it looks again: not a yardstick, but where most of
// the time goes.
const noVerify = "no-verify"

// memoryOnly makes `bench bare` apply as a trial does: profiles in /run, nothing on disk.
const memoryOnly = "memory-only"

// bare applies the state on its input and commits it. The time that this
// process took to start does not count.
func bare(args []string, in io.Reader, out io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, "bench bare:", err)
		return exitFailed
	}
	desired, err := io.ReadAll(in)
	if err != nil {
		return fail(err)
	}
	var times bareTimes
	began := time.Now()
	n := library.New(library.WithNoCommit(), library.WithTimeout(bareCheckpoint), library.WithLogsWritter(io.Discard))
	if slices.Contains(args, noVerify) {
		library.WithNoVerify()(n)
	}
	if slices.Contains(args, memoryOnly) {
		library.WithMemoryOnly()(n)
	}
	if _, err := n.ApplyNetState(string(desired)); err != nil {
		return fail(err)
	}
	times.Apply = time.Since(began)
	began = time.Now()
	if _, err := n.CommitCheckpoint(""); err != nil {
		return fail(err)
	}
	times.Commit = time.Since(began)
	if err := json.NewEncoder(out).Encode(times); err != nil {
		return fail(err)
	}
	return 0
}

// bareOn runs the yardstick inside a node.
func (b *bench) bareOn(ctx context.Context, n *lab.Node, desired string, args ...string) (bareTimes, error) {
	var times bareTimes
	self, err := filepath.Abs(filepath.Join(b.bin, "bench"))
	if err != nil {
		return times, err
	}
	var out, errs bytes.Buffer
	err = n.Run(ctx, lab.Command{Args: append([]string{self, "bare"}, args...), Stdin: bytes.NewReader([]byte(desired)), Stdout: &out, Stderr: &errs})
	if err != nil {
		return times, fmt.Errorf("bare apply on %s: %w: %s", n.Name, err, bytes.TrimSpace(errs.Bytes()))
	}
	if err := json.Unmarshal(out.Bytes(), &times); err != nil {
		return times, fmt.Errorf("bare apply on %s: %w", n.Name, err)
	}
	return times, nil
}

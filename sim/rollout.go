package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

// manyNodes is the size of a rollout that says none.
const manyNodes = 1000

// littleGarbage is for runs that keep hundreds of megabytes.
const littleGarbage = 40

// rolledOut is the result of -rollout as JSON.
type rolledOut struct {
	swarm.Rollout
	swarm.RolledOut

	// Seconds of this machine, and the most memory that was in use.
	Seconds   float64 `json:"seconds"`
	MemoryMiB uint64  `json:"memoryMiB"`
}

// rollOut rolls a good policy out over many nodes and tells what it took.
func (o *options) rollOut(ctx context.Context, out io.Writer) error {
	r := swarm.Rollout{Nodes: o.nodes, MaxUnavailable: o.maxUnavailable, Centralized: o.centralized}
	if r.Nodes == 0 {
		r.Nodes = manyNodes
	}
	debug.SetGCPercent(littleGarbage) // Here it is much that is kept.
	began := time.Now()
	done, err := r.Execute(ctx, 1)
	took := time.Since(began)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// What the process ever got from the system, garbage included.
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	result := rolledOut{Rollout: r, RolledOut: done, Seconds: took.Seconds(), MemoryMiB: memory.Sys >> 20}
	return o.write(out, result, func() error {
		_, err := fmt.Fprintf(out, "%d nodes, maxUnavailable %s: Available on all after %s of virtual time; %s\n%s of this machine, %d MiB\n",
			r.Nodes, r.MaxUnavailable, done.Took.Round(time.Millisecond), inALine(done.Figures), took.Round(time.Millisecond), result.MemoryMiB)
		return err
	})
}

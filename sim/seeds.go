package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// seeds is a search with many seeds, and what they came to together.
type seeds struct {
	search

	known   known
	figures swarm.Figures
	reached fault.Coverage
	met     fault.Met
	// traces is all hashes together, in any order.
	traces   uint64
	broken   []broken
	slowest  swarm.Result
	slowTime time.Duration
}

// broken is a seed that broke a rule.
type broken struct {
	Seed      uint64            `json:"seed"`
	Violation *oracle.Violation `json:"violation"`
	Replay    string            `json:"replay"`
	// Known is why it does not count.
	Known string `json:"known,omitempty"`
}

// many runs seeds on all cores, each world on one.
func (o *options) many(ctx context.Context, out io.Writer) error {
	looked, err := readKnown(o.known)
	if err != nil {
		return fmt.Errorf("%w: -known: %w", errUsage, err)
	}
	s := &seeds{search: search{options: o, began: time.Now()}, known: looked, reached: fault.Coverage{}, met: fault.Met{}}
	s.each(ctx, "seeds", o.seedRange().share(), func(i int) {
		seed, began := o.from+o.shards.first()+uint64(i)*o.shards.step(), time.Now() //nolint:gosec // It is a count.
		s.add(swarm.Execute(ctx, swarm.Draw(seed, o.size()), swarm.Options{Rule: o.rule}), time.Since(began), ctx.Err() != nil)
	})
	if ctx.Err() != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sim: interrupted; this is what was done")
	}
	return s.finish(out, ctx.Err())
}

func (s *seeds) add(r swarm.Result, took time.Duration, interrupted bool) {
	if interrupted {
		return // It was not run to its end.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done++
	s.broke += r.Figures.Broken
	s.figures.Add(r.Figures)
	s.reached.Add(r.Reached)
	s.met.Add(r.Met)
	s.traces += r.Hash
	if took > s.slowTime {
		s.slowest, s.slowTime = r, took
	}
	if r.Violation != nil {
		found := broken{r.Seed, r.Violation, s.options.replayOf(r.Seed), s.known.why(r.Seed, *r.Violation)}
		s.broken = append(s.broken, found)
		s.ended = unknown(s.broken) >= s.options.most
		if found.Known == "" && !s.options.json { // A long search need not be over before somebody looks at it.
			overProgress := ""
			if trace.Terminal(os.Stderr) {
				overProgress = "\r"
			}
			fmt.Fprintf(os.Stderr, "%ssim: seed %d broke the rule %s after %s: %s\n", overProgress, r.Seed, r.Violation.Rule, time.Since(s.began).Round(time.Second), found.Replay)
		}
	}
}

func unknown(all []broken) int {
	n := 0
	for _, b := range all {
		if b.Known == "" {
			n++
		}
	}
	return n
}

// replayOf is how a person sees one seed again.
func (o *options) replayOf(seed uint64) string {
	line := fmt.Sprintf("go run ./sim -seed %d", seed)
	if o.long {
		line += " -long"
	}
	if o.lean {
		line += " -lean"
	}
	if o.nodes > 0 {
		line += fmt.Sprintf(" -nodes %d", o.nodes)
	}
	if len(o.always) > 0 {
		line += " -arm " + strings.Join(o.always, ",")
	}
	return line
}

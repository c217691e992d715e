package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// search is many seeds: what they came to together.
type search struct {
	options *options
	known   known
	began   time.Time

	mu      sync.Mutex
	next    uint64
	figures swarm.Figures
	reached fault.Coverage
	met     fault.Met
	// traces is all hashes together, in any order.
	traces   uint64
	broken   []broken
	ended    bool // enough were broken
	slowest  swarm.Result
	slowTime time.Duration
}

// broken is a seed that broke a rule.
type broken struct {
	Seed      uint64          `json:"seed"`
	Violation swarm.Violation `json:"violation"`
	Replay    string          `json:"replay"`
	// Known is why it does not count.
	Known string `json:"known,omitempty"`
}

// many runs seeds on all cores, each world on one.
func (o *options) many(ctx context.Context, out io.Writer) error {
	looked, err := readKnown(o.known)
	if err != nil {
		return fmt.Errorf("%w: -known: %w", errUsage, err)
	}
	s := &search{options: o, known: looked, began: time.Now(), next: o.from + o.shards.first(), reached: fault.Coverage{}, met: fault.Met{}}
	var workers sync.WaitGroup
	for range o.workers {
		workers.Go(func() {
			for {
				seed, more := s.take(ctx)
				if !more {
					return
				}
				began := time.Now()
				s.add(swarm.Execute(ctx, swarm.Draw(seed, o.size()), swarm.Options{Rule: o.rule}), time.Since(began), ctx.Err() != nil)
			}
		})
	}
	s.watch(&workers)
	if ctx.Err() != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sim: interrupted; this is what was done")
	}
	return s.tell(out, ctx.Err())
}

// watch shows the progress, to a person, until all workers have ended.
func (s *search) watch(workers *sync.WaitGroup) {
	if s.options.json || !trace.Terminal(os.Stderr) {
		workers.Wait()
		return
	}
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		workers.Wait()
		done.Store(true)
		close(ended)
	}()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for !done.Load() {
		select {
		case <-ended:
		case <-ticker.C:
		}
		s.mu.Lock()
		fmt.Fprintf(os.Stderr, "\r%d of %d seeds, %.0f a minute, %d broke a rule ", s.figures.Runs, s.options.seeds,
			float64(s.figures.Runs)/time.Since(s.began).Minutes(), s.figures.Broken)
		s.mu.Unlock()
	}
	fmt.Fprintln(os.Stderr)
}

func (s *search) take(ctx context.Context) (seed uint64, more bool) {
	o := s.options
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil || s.ended || s.next >= o.from+o.seeds {
		return 0, false
	}
	seed = s.next
	s.next += o.shards.step()
	return seed, true
}

func (s *search) add(r swarm.Result, took time.Duration, interrupted bool) {
	if interrupted {
		return // It was not run to its end.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Add(r.Figures)
	s.reached.Add(r.Reached)
	s.met.Add(r.Met)
	s.traces += r.Hash
	if took > s.slowTime {
		s.slowest, s.slowTime = r, took
	}
	if r.Violation != nil {
		found := broken{r.Seed, *r.Violation, s.options.replay(r.Seed), s.known.why(r.Seed, *r.Violation)}
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

// replay is how a person sees one seed again.
func (o *options) replay(seed uint64) string {
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

// report is a search as JSON.
type report struct {
	// Range is what was asked for. Missing are the seeds of it that were not run, since
	// enough of them were broken or it was interrupted.
	Range   seedRange      `json:"range"`
	Missing int            `json:"missing,omitempty"`
	Figures swarm.Figures  `json:"figures"`
	Broken  []broken       `json:"broken"`
	Reached fault.Coverage `json:"reached"`
	Zeros   []string       `json:"neverReached"`
	// Met are the pairs and threes of faults that met on a node.
	Met            fault.Met `json:"met"`
	SeedsPerMinute float64   `json:"seedsPerMinute"`
	// NodeHoursPerSecond: simulated node-hours in a second of this machine.
	NodeHoursPerSecond float64 `json:"nodeHoursPerSecond"`
	Workers            int     `json:"workers"`
	// Took is how long the workers were at it; Slowest is the seed that took longest.
	Took    time.Duration `json:"tookNanoseconds"`
	Slowest slowest       `json:"slowest"`
	// Shards that were merged; Took and what is told per minute and second are then as
	// if one machine had run them one after the other. Longest is the shard that took longest.
	Shards  int           `json:"shards,omitempty"`
	Longest time.Duration `json:"longestNanoseconds,omitempty"`
	// Traces stands for the traces of all seeds: it is the same each time.
	Traces string `json:"traces"`
}

// slowest is a seed and how long it took.
type slowest struct {
	Seed uint64        `json:"seed"`
	Took time.Duration `json:"tookNanoseconds"`
}

func (s *search) tell(out io.Writer, interrupted error) error {
	took := time.Since(s.began)
	r := report{
		Range: s.options.seedRange(), Took: took, Slowest: slowest{s.slowest.Seed, s.slowTime},
		Figures: s.figures, Broken: s.broken, Reached: s.reached, Met: s.met, Zeros: s.reached.Zeros(s.options.lean), Workers: s.options.workers, Traces: fmt.Sprintf("%016x", s.traces),
	}
	r.pace()
	if interrupted != nil || s.ended {
		r.Missing = r.Range.share() - r.Figures.Runs
	}
	return s.options.report(out, r)
}

// report prints one, and fails where a rule was broken.
func (o *options) report(out io.Writer, r report) error {
	slices.SortFunc(r.Broken, func(a, b broken) int { return cmp.Compare(a.Seed, b.Seed) })
	var err error
	if o.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(r)
	} else {
		err = o.print(out, r)
	}
	switch {
	case err != nil:
		return fmt.Errorf("telling the result: %w", err)
	case r.unknown() > 0, r.Missing > 0, o.coverage && len(r.Zeros) > 0:
		return errBroken
	}
	return nil
}

// pace tells how much was done in a minute and in a second.
func (r *report) pace() {
	r.SeedsPerMinute = float64(r.Figures.Runs) / r.Took.Minutes()
	r.NodeHoursPerSecond = r.Figures.NodeTime.Hours() / r.Took.Seconds()
}

// unknown counts the violations that nobody knew of.
func (r report) unknown() int { return unknown(r.Broken) }

func (o *options) print(out io.Writer, r report) error {
	for _, b := range r.Broken {
		if b.Known != "" {
			_, _ = fmt.Fprintf(out, "known: seed %d: %s (%s)\n", b.Seed, b.Violation, b.Known)
			continue
		}
		_, _ = fmt.Fprintf(out, "BROKEN seed %d: %s\n       %s\n", b.Seed, b.Violation, b.Replay)
	}
	if o.coverage {
		_, _ = fmt.Fprintln(out)
		if err := r.Reached.Table(out); err != nil {
			return err
		}
		if err := r.Met.Table(out); err != nil {
			return err
		}
		if r.Range.Lean {
			for _, apart := range r.Met.Apart() {
				_, _ = fmt.Fprintln(out, "NEVER MET "+apart)
			}
		}
		for _, zero := range r.Zeros {
			_, _ = fmt.Fprintln(out, "NEVER REACHED "+zero)
		}
	}
	if r.Missing > 0 {
		_, _ = fmt.Fprintf(out, "%d seeds were not run, since %d broke a rule (-failures) or somebody interrupted it\n", r.Missing, r.unknown())
	}
	_, err := fmt.Fprintf(out, "\n%s: %d broke a rule, %d of them known; %s\n", r.Range.saying(r.Figures.Runs), r.Figures.Broken, len(r.Broken)-r.unknown(), told(r.Figures))
	if r.Shards > 0 {
		_, _ = fmt.Fprintf(out, "%d shards, the longest in %s; one after the other: ", r.Shards, r.Longest.Round(time.Millisecond))
	}
	_, _ = fmt.Fprintf(out, "%s on %d workers: %.0f seeds a minute, %.1f simulated node-hours a second; the slowest took %s (seed %d)\ntraces %s\n",
		r.Took.Round(time.Millisecond), r.Workers, r.SeedsPerMinute, r.NodeHoursPerSecond, r.Slowest.Took.Round(time.Millisecond), r.Slowest.Seed, r.Traces)
	return err
}

// told is the figures in a line.
func told(f swarm.Figures) string {
	return fmt.Sprintf("%.1f simulated node-hours, %d steps, %d port calls (%d API requests), %d faults, %d crashes, "+
		"%d transactions (%d commits, %d rollbacks, %d reverts)",
		f.NodeTime.Hours(), f.Steps, f.Calls, f.Requests, f.Faults, f.Crashes, f.Transactions, f.Commits, f.Rollbacks, f.Reverts)
}

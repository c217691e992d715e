package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

// report is a search as JSON.
type report struct {
	// Range is what was asked for. Missing are the seeds of it that were not run, since
	// enough of them were broken, it was interrupted, or was Late: -at-most was over.
	Range   seedRange      `json:"range"`
	Missing int            `json:"missing,omitempty"`
	Late    bool           `json:"late,omitempty"`
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
	// Shards that were merged; Took and the figures per minute and second are then as
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

func (s *seeds) finish(out io.Writer, interrupted error) error {
	took := time.Since(s.began)
	r := report{
		Range: s.options.seedRange(), Took: took, Slowest: slowest{s.slowest.Seed, s.slowTime},
		Figures: s.figures, Broken: s.broken, Reached: s.reached, Met: s.met, Zeros: s.reached.Zeros(s.options.lean), Workers: s.options.workers, Traces: fmt.Sprintf("%016x", s.traces),
	}
	r.pace()
	if interrupted != nil || s.ended || s.late {
		r.Missing = r.Range.share() - r.Figures.Runs
		r.Late = s.late && !s.ended && interrupted == nil
	}
	return s.options.report(out, r)
}

// report prints one, and fails where a rule was broken.
func (o *options) report(out io.Writer, r report) error {
	slices.SortFunc(r.Broken, func(a, b broken) int { return cmp.Compare(a.Seed, b.Seed) })
	if err := o.write(out, r, func() error { return o.print(out, r) }); err != nil {
		return err
	}
	if r.unknown() > 0 {
		return errBroken
	}
	// What a part of the seeds never reached says nothing of all.
	if !r.Late && (r.Missing > 0 || o.coverage && len(r.Zeros) > 0) {
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
	switch {
	case r.Late:
		_, _ = fmt.Fprintf(out, "OUT OF TIME: %d of %d seeds were not run within %s (-at-most)\n", r.Missing, r.Range.share(), o.atMost)
	case r.Missing > 0:
		_, _ = fmt.Fprintf(out, "%d seeds were not run, since %d broke a rule (-failures) or somebody interrupted it\n", r.Missing, r.unknown())
	}
	_, err := fmt.Fprintf(out, "\n%s: %d broke a rule, %d of them known; %s\n", r.Range.saying(r.Figures.Runs), r.Figures.Broken, len(r.Broken)-r.unknown(), inALine(r.Figures))
	if r.Shards > 0 {
		_, _ = fmt.Fprintf(out, "%d shards, the longest in %s; one after the other: ", r.Shards, r.Longest.Round(time.Millisecond))
	}
	_, _ = fmt.Fprintf(out, "%s on %d workers: %.0f seeds a minute, %.1f simulated node-hours a second; the slowest took %s (seed %d)\ntraces %s\n",
		r.Took.Round(time.Millisecond), r.Workers, r.SeedsPerMinute, r.NodeHoursPerSecond, r.Slowest.Took.Round(time.Millisecond), r.Slowest.Seed, r.Traces)
	return err
}

// inALine is the figures in a line.
func inALine(f swarm.Figures) string {
	return fmt.Sprintf("%.1f simulated node-hours, %d steps, %d port calls (%d API requests), %d faults, %d crashes, "+
		"%d transactions (%d commits, %d rollbacks, %d reverts)",
		f.NodeTime.Hours(), f.Steps, f.Calls, f.Requests, f.Faults, f.Crashes, f.Transactions, f.Commits, f.Rollbacks, f.Reverts)
}

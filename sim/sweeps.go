package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
	"github.com/nmstate/kubernetes-nmstate/sim/sweep"
)

// sweepSeed is that of the latencies.
const sweepSeed = 1

// swept is a scenario in the sweep as JSON.
type swept struct {
	Scenario string `json:"scenario"`
	// Calls that the scenario makes, and runs with faults on them.
	Calls  int `json:"calls"`
	Runs   int `json:"runs"`
	Broken int `json:"broken"`
}

// struck is a run that broke a rule.
type struck struct {
	Scenario  string            `json:"scenario"`
	What      string            `json:"what"`
	Violation *oracle.Violation `json:"violation"`
	Replay    string            `json:"replay"`
}

// sweepReport is the result as JSON.
type sweepReport struct {
	Scenarios []*swept `json:"scenarios"`
	Broken    []struck `json:"broken"`
	// Calls, and Left of them that stand in another scenario's row.
	Calls int `json:"calls"`
	Left  int `json:"sweptElsewhere"`
	// All are the runs with one fault that there could be, Singles those that were.
	All     int `json:"allSingles"`
	Singles int `json:"singles"`
	Pairs   int `json:"pairs"`
	// Missing were not begun, since -at-most was over.
	Missing int     `json:"missing,omitempty"`
	Seconds float64 `json:"seconds"`
}

// sweeping is a sweep under way.
type sweeping struct {
	search

	rows   map[string]*swept
	report sweepReport
}

// sweep has every port call of the scenarios struck by every fault.
func (o *options) sweep(ctx context.Context, out io.Writer) error {
	chosen, err := o.toSweep()
	if err != nil {
		return err
	}
	s := &sweeping{search: search{options: o, began: time.Now()}, rows: map[string]*swept{}, report: sweepReport{Broken: []struck{}}}
	recordings, err := s.record(ctx, chosen)
	if err != nil {
		return err
	}
	jobs, left := sweep.Singles(recordings)
	s.report.Left, s.report.All = left, len(jobs)
	if o.parts.scenario == "" {
		jobs = sweep.Share(jobs, o.parts.share, o.from)
	}
	s.report.Singles = len(jobs)
	pairs := sweep.Pairs(recordings, o.parts.pairs, o.from)
	s.report.Pairs = len(pairs)
	if jobs = append(jobs, pairs...); o.atMost > 0 {
		jobs = sweep.Shuffle(jobs, o.from)
	}
	s.each(ctx, "runs", len(jobs), func(i int) { s.strike(ctx, jobs[i]) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.late {
		s.report.Missing = len(jobs) - s.done
	}
	return s.finish(out)
}

// toSweep are the scenarios: the one that is named, all, or those that are
// chosen for every change.
func (o *options) toSweep() ([]*scenario.Scenario, error) {
	if o.parts.scenario != "" {
		s, err := find(o.parts.scenario)
		return []*scenario.Scenario{s}, err
	}
	all, err := scenario.All()
	if err != nil {
		return nil, err
	}
	if o.long {
		return all, nil
	}
	return slices.DeleteFunc(all, func(s *scenario.Scenario) bool { return !slices.Contains(sweep.Chosen(), s.Name) }), nil
}

func (s *sweeping) record(ctx context.Context, chosen []*scenario.Scenario) ([]*sweep.Recording, error) {
	recordings := make([]*sweep.Recording, len(chosen))
	var failed error
	s.each(ctx, "", len(chosen), func(i int) {
		rec, err := sweep.Record(ctx, chosen[i], sweepSeed)
		s.mu.Lock()
		defer s.mu.Unlock()
		if recordings[i] = rec; err != nil && failed == nil {
			failed = err
		}
	})
	if failed == nil {
		failed = ctx.Err()
	}
	if failed != nil {
		return nil, failed
	}
	for _, rec := range recordings {
		row := &swept{Scenario: rec.Scenario.Name, Calls: len(rec.Calls)}
		s.rows[row.Scenario] = row
		s.report.Scenarios = append(s.report.Scenarios, row)
		s.report.Calls += row.Calls
	}
	return recordings, nil
}

func (s *sweeping) strike(ctx context.Context, job sweep.Job) {
	result, err := job.Recording.Strike(ctx, job.Strikes, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		return // It was interrupted.
	}
	row := s.rows[job.Recording.Scenario.Name]
	row.Runs++
	s.done++
	if result.Violation != nil {
		row.Broken++
		s.broke++
		s.report.Broken = append(s.report.Broken, struck{row.Scenario, job.String(), result.Violation, job.Replay()})
	}
}

func (s *sweeping) finish(out io.Writer) error {
	took := time.Since(s.began)
	s.report.Seconds = took.Seconds()
	slices.SortFunc(s.report.Broken, func(a, b struck) int { return cmp.Compare(a.Scenario+a.Replay, b.Scenario+b.Replay) })
	if err := s.options.write(out, s.report, func() error { return s.print(out, took) }); err != nil {
		return err
	}
	if len(s.report.Broken) > 0 {
		return errBroken
	}
	return nil
}

func (s *sweeping) print(out io.Writer, took time.Duration) error {
	r := s.report
	for _, b := range r.Broken {
		_, _ = fmt.Fprintf(out, "BROKEN %s: %s\n       %s\n       %s\n", b.Scenario, b.What, b.Violation, b.Replay)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(table, "\nscenario\tcalls\truns\tbroken\t\n")
	for _, row := range r.Scenarios {
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t\n", row.Scenario, row.Calls, row.Runs, row.Broken)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	ends := sweep.AnyEnd()
	for _, name := range slices.Sorted(maps.Keys(ends)) {
		if s.rows[name] != nil {
			_, _ = fmt.Fprintf(out, "not compared is the end of %s: %s\n", name, ends[name])
		}
	}
	if r.Missing > 0 {
		_, _ = fmt.Fprintf(out, "OUT OF TIME: %d of %d runs were not begun within %s (-at-most); which they are was drawn\n", r.Missing, r.Singles+r.Pairs, s.options.atMost)
	}
	_, err := fmt.Fprintf(out, "\n%d scenarios, %d port calls, %d of them in a start that another scenario has too, byte for byte, and swept there;\n"+
		"%d calls x %d faults: %d of %d runs, and %d pairs from %d: %d broke a rule\n%s on %d workers: %.0f runs a second\n",
		len(r.Scenarios), r.Calls, r.Left, r.Calls-r.Left, len(sweep.Faults()), r.Singles, r.All, r.Pairs, s.options.from, len(r.Broken),
		took.Round(time.Millisecond), s.options.workers, float64(s.done)/took.Seconds())
	return err
}

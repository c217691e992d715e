package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
	"github.com/nmstate/kubernetes-nmstate/sim/sweep"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// find reads a scenario by its file, or one of ours by its name.
func find(said string) (*scenario.Scenario, error) {
	raw, err := os.ReadFile(said)
	if err == nil {
		return scenario.Parse(filepath.Base(said), raw)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the scenario: %w", err)
	}
	all, err := scenario.All()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(s *scenario.Scenario) bool { return s.Name == strings.TrimSuffix(filepath.Base(said), ".txtar") })
	if at < 0 {
		return nil, fmt.Errorf("%w: -scenario: %q is neither a file nor one of sim/scenario/files", errUsage, said)
	}
	return all[at], nil
}

// played is what became of a scenario, as JSON.
type played struct {
	Scenario string `json:"scenario"`
	// Replay is the command that does it again.
	Replay    string            `json:"replay"`
	Violation *oracle.Violation `json:"violation,omitempty"`
	// Took is virtual time. Hash of the trace: the same run gives the same one.
	Took time.Duration `json:"virtualNanoseconds"`
	Hash uint64        `json:"hash"`

	seed uint64
	// faults on its calls and the end, as a person reads them.
	faults, end string
}

// play runs a scenario, with faults on its port calls where -at names some.
func (o *options) play(ctx context.Context, out io.Writer) error {
	s, err := find(o.parts.scenario)
	if err != nil {
		return err
	}
	var nodes []string
	for _, n := range s.Topology.Nodes {
		nodes = append(nodes, n.Name)
	}
	r := o.replay(out, nodes)
	run := o.walk
	if o.parts.at != "" || o.parts.faults != "" {
		run = o.strike
	}
	p, err := run(ctx, s, r.sink())
	if err != nil {
		return err
	}
	if err := r.end(p.Took, p, func() error {
		_, err := fmt.Fprintf(r.out, "\nscenario %s%s: %s\n%s in %s of this machine's time, trace %016x\n%s",
			s.Name, p.faults, verdict(p.Violation), p.Took, r.took(), p.Hash, p.end)
		return err
	}, func(record *trace.Record) {
		record.Title, record.Seed, record.Hash, record.Replay = s.Name, p.seed, p.Hash, p.Replay
		violated(record, p.Violation)
	}); err != nil {
		return err
	}
	if p.Violation != nil {
		return errBroken
	}
	return ctx.Err()
}

// walk plays it as it is written.
func (o *options) walk(ctx context.Context, s *scenario.Scenario, sink func(world.Line)) (played, error) {
	how := scenario.Playing{Seed: max(o.seed, 1), Ways: sink != nil, Sink: sink}
	done, err := scenario.Play(ctx, s, how)
	p := played{Scenario: s.Name, Replay: "go run ./sim -scenario " + o.parts.scenario, Took: done.Took, Hash: done.Hash, seed: how.Seed, end: done.Picture}
	if err != nil {
		p.Violation = oracle.Broken("scenario", err, done.Took)
	}
	return p, nil
}

// strike runs its actions with the faults of -fault on the port calls of -at.
func (o *options) strike(ctx context.Context, s *scenario.Scenario, sink func(world.Line)) (played, error) {
	strikes, err := sweep.ParseStrikes(o.parts.at, o.parts.faults)
	if err != nil {
		return played{}, fmt.Errorf("%w: -at, -fault: %w", errUsage, err)
	}
	rec, err := sweep.Record(ctx, s, max(o.seed, sweepSeed))
	if err != nil {
		return played{}, err
	}
	result, err := rec.Strike(ctx, strikes, sink)
	job := sweep.Job{Recording: rec, Strikes: strikes}
	return played{
		Scenario: s.Name, Replay: strings.Replace(job.Replay(), s.Name, o.parts.scenario, 1), Violation: result.Violation, Took: result.Took, Hash: result.Hash,
		seed: rec.Seed, faults: " with " + job.String(), end: "without a fault it ends so:\n" + rec.End.String(),
	}, err
}

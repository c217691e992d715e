package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
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

// play runs a scenario with its trace.
func (o *options) play(ctx context.Context, out io.Writer) error {
	s, err := find(o.parts.scenario)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	writer := trace.NewWriter(buffered, trace.Options{Colour: colours(out), Nodes: o.traceNodes, Kinds: o.traceKinds})
	how := scenario.Playing{Seed: max(o.seed, 1), Ways: !o.quiet || o.parts.html != ""}
	if !o.quiet {
		how.Sink = writer.Line
	}
	var nodes []string
	for _, n := range s.Topology.Nodes {
		nodes = append(nodes, n.Name)
	}
	recorder := o.parts.recorder(nodes)
	how.Sink = also(recorder, how.Sink)
	began := time.Now()
	played, failed := scenario.Play(ctx, s, how)
	verdict := "ok"
	if failed != nil {
		verdict = "BROKEN " + failed.Error()
	}
	_, err = fmt.Fprintf(buffered, "\nscenario %s: %s\n%s in %s of this machine's time, trace %016x\n%s",
		s.Name, verdict, played.Took, time.Since(began).Round(time.Millisecond), played.Hash, played.Picture)
	if err := errors.Join(err, writer.Err(), buffered.Flush()); err != nil {
		return fmt.Errorf("telling the result: %w", err)
	}
	if recorder != nil {
		record := recorder.Record(played.Took)
		record.Title, record.Seed, record.Hash = s.Name, how.Seed, played.Hash
		record.Replay = "go run ./sim -scenario " + o.parts.scenario
		if failed != nil && len(record.Violations) == 0 {
			record.Violations = append(record.Violations, world.Line{At: played.Took, What: trace.Violation, Text: failed.Error()})
		}
		if err := o.parts.write(record); err != nil {
			return err
		}
	}
	if failed != nil {
		return errBroken
	}
	return ctx.Err()
}

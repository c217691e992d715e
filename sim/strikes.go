package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/sweep"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// strike runs a scenario's actions with faults on some of its port calls, with
// the trace.
func (o *options) strike(ctx context.Context, out io.Writer) error {
	strikes, err := sweep.ParseStrikes(o.parts.at, o.parts.faults)
	if err != nil {
		return fmt.Errorf("%w: -at, -fault: %w", errUsage, err)
	}
	s, err := find(o.parts.scenario)
	if err != nil {
		return err
	}
	rec, err := sweep.Record(ctx, s, max(o.seed, sweepSeed))
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	writer := trace.NewWriter(buffered, trace.Options{Colour: colours(out), Nodes: o.traceNodes, Kinds: o.traceKinds})
	var nodes []string
	for _, n := range s.Topology.Nodes {
		nodes = append(nodes, n.Name)
	}
	recorder := o.parts.recorder(nodes)
	sink := also(recorder, nil)
	if !o.quiet {
		sink = also(recorder, writer.Line)
	}
	began := time.Now()
	result, err := rec.Strike(ctx, strikes, sink)
	if err != nil {
		return err
	}
	verdict := "ok"
	if result.Violation != nil {
		verdict = "BROKEN " + result.Violation.String()
	}
	job := sweep.Job{Recording: rec, Strikes: strikes}
	_, err = fmt.Fprintf(buffered, "\nscenario %s with %s: %s\n%s of this machine's time, trace %016x\nwithout a fault it ends so:\n%s",
		s.Name, job, verdict, time.Since(began).Round(time.Millisecond), result.Hash, rec.End)
	if err := errors.Join(err, writer.Err(), buffered.Flush()); err != nil {
		return fmt.Errorf("telling the result: %w", err)
	}
	if recorder != nil {
		record := recorder.Record(result.Took)
		record.Title, record.Seed, record.Hash = s.Name, rec.Seed, result.Hash
		record.Replay = strings.Replace(job.Replay(), s.Name, o.parts.scenario, 1)
		if err := o.parts.write(record); err != nil {
			return err
		}
	}
	if result.Violation != nil {
		return errBroken
	}
	return nil
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// recorder of a run whose timeline is wanted; nil without -html.
func (p *parts) recorder(nodes []string) *trace.Recorder {
	if p.html == "" {
		return nil
	}
	return trace.NewRecorder(nodes...)
}

// also hands the lines to the recorder too.
func also(recorder *trace.Recorder, sink func(world.Line)) func(world.Line) {
	switch {
	case recorder == nil:
		return sink
	case sink == nil:
		return recorder.Line
	}
	return trace.Tee(sink, recorder.Line)
}

// swarmTimeline writes the timeline of a run that is over.
func (o *options) swarmTimeline(recorder *trace.Recorder, run swarm.Run, result swarm.Result) error {
	if recorder == nil {
		return nil
	}
	record := recorder.Record(result.Figures.Virtual)
	record.Title, record.Seed, record.Hash = "Swarm", run.Seed, result.Hash
	record.Replay = "go run ./sim -seed " + strconv.FormatUint(run.Seed, 10)
	if o.file != "" {
		record.Replay = "go run ./sim -run " + o.file
	}
	if o.long {
		record.Replay += " -long"
	}
	if o.nodes > 0 {
		record.Replay += " -nodes " + strconv.Itoa(o.nodes)
	}
	for line := range strings.Lines(run.String()) {
		if name, text, is := strings.Cut(strings.TrimSpace(line), " "); is {
			record.Facts = append(record.Facts, [2]string{strings.TrimSuffix(name, ":"), text})
		}
	}
	violated(record, result.Violation)
	return o.parts.write(record)
}

// violated names the rule and the node, instead of the line that ended the run.
func violated(record *trace.Record, v *swarm.Violation) {
	if v == nil {
		return
	}
	record.Violations = slices.DeleteFunc(record.Violations, func(l world.Line) bool { return l.What == trace.Fail && l.At >= v.At })
	record.Violations = append(record.Violations, world.Line{At: v.At, Who: v.Node, What: trace.Violation, Text: v.Rule + ": " + v.Message})
}

// write the timeline to the file that -html names.
func (p *parts) write(record *trace.Record) error {
	file, err := os.Create(p.html)
	if err != nil {
		return fmt.Errorf("writing the timeline: %w", err)
	}
	out := bufio.NewWriter(file)
	if err := errors.Join(record.HTML(out), out.Flush(), file.Close()); err != nil {
		return fmt.Errorf("writing the timeline to %s: %w", p.html, err)
	}
	return nil
}

// names of the nodes that a run has at its start.
func names(run swarm.Run) []string {
	var all []string
	for _, n := range run.Cluster.Nodes {
		all = append(all, n.Name)
	}
	return all
}

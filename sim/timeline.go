package main

import (
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// complete the record of a run that is over.
func (o *options) complete(record *trace.Record, run swarm.Run, result swarm.Result) {
	record.Title, record.Seed, record.Hash = "Swarm", run.Seed, result.Hash
	record.Replay = o.replayOf(run.Seed)
	if o.file != "" {
		record.Replay = "go run ./sim -run " + o.file
	}
	for line := range strings.Lines(run.String()) {
		if name, text, is := strings.Cut(strings.TrimSpace(line), " "); is {
			record.Facts = append(record.Facts, [2]string{strings.TrimSuffix(name, ":"), text})
		}
	}
	violated(record, result.Violation)
}

// violated names the rule and the node, instead of the line that ended the run.
func violated(record *trace.Record, v *oracle.Violation) {
	if v == nil {
		return
	}
	record.Violations = slices.DeleteFunc(record.Violations, func(l world.Line) bool { return l.What == trace.Fail && l.At >= v.At })
	record.Violations = append(record.Violations, world.Line{At: v.At, Who: v.Node, What: trace.Violation, Text: v.Rule + ": " + v.Message})
}

// names of the nodes that a run has at its start.
func names(run swarm.Run) []string {
	var all []string
	for _, n := range run.Cluster.Nodes {
		all = append(all, n.Name)
	}
	return all
}

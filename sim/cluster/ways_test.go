package cluster_test

import (
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// What a person sees of a run is read from its lines; production's log is where
// transactions come from.
func TestTheTraceOfARunComesToItsRecord(t *testing.T) {
	run := func(watched bool) (*trace.Record, uint64) {
		b := newBench(t, 1, 3, cluster.Distributed)
		recorder := trace.NewRecorder("node1", "node2", "node3")
		if b.World.Sink = recorder.Line; watched {
			b.ShowWays()
		} else {
			b.World.Sink = nil
		}
		for _, policy := range []struct{ name, state string }{{"br1", bridge}, {"cut", cut}} {
			b.policy(policy.name, policy.state)
			if err := b.World.RunFor(3 * time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		b.Node("node2").KillHandler()
		if err := b.World.RunFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		return recorder.Record(b.World.Elapsed()), b.World.Hash()
	}
	record, hash := run(true)
	if _, silent := run(false); silent != hash {
		t.Error("the run differs when somebody looks at it")
	}
	results := map[string]int{}
	cuts, killed := 0, 0
	for _, row := range record.Rows {
		for _, transaction := range row.Transactions {
			results[transaction.Policy+" "+transaction.Result]++
			if len(transaction.Phases) < 4 || transaction.Open {
				t.Errorf("%s: a transaction with %d phases, open %t", row.Name, len(transaction.Phases), transaction.Open)
			}
		}
		for _, span := range row.Cuts {
			cuts++
			if length := span.End - span.Begin; span.Open || length > time.Minute {
				t.Errorf("%s: cut off from %s for %s: %s", row.Name, span.Name, length, span.Text)
			}
		}
		for _, life := range row.Lives {
			if !life.Open {
				killed++
			}
		}
	}
	if results["br1 Committed"] != 3 || results["cut RolledBack"] == 0 || len(results) != 2 {
		t.Error(results)
	}
	if cuts == 0 || killed != 1 {
		t.Errorf("%d times cut off, %d processes killed; want some and one", cuts, killed)
	}
}

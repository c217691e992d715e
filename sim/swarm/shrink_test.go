package swarm_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

// broken needs fault 3 together with fault 7, action 2, and node2.
func broken(run swarm.Run) string {
	faults, actions, nodes := map[int]bool{}, map[int]bool{}, map[string]bool{}
	for _, f := range run.Faults {
		faults[f.ID] = true
	}
	for _, a := range run.Actions {
		actions[a.ID] = true
	}
	for _, n := range run.Cluster.Nodes {
		nodes[n.Name] = true
	}
	if faults[3] && faults[7] && actions[2] && nodes["node2"] {
		return "commit-implies-probes"
	}
	return ""
}

func TestShrinkKeepsWhatTheRuleNeedsAndNothingElse(t *testing.T) {
	var run swarm.Run
	for i := range 11 {
		run.Faults = append(run.Faults, fault.Fault{ID: i})
		run.Actions = append(run.Actions, swarm.Action{ID: i})
	}
	run.Cluster.Nodes = []swarm.Node{{Name: "node1"}, {Name: "node2"}, {Name: "node3"}}
	tries := 0
	got := swarm.Shrink(run, "commit-implies-probes", 1000, func(r swarm.Run) string { tries++; return broken(r) })
	want := swarm.Run{
		Faults: fault.Plan{{ID: 3}, {ID: 7}}, Actions: []swarm.Action{{ID: 2}},
		Cluster: swarm.Cluster{Nodes: []swarm.Node{{Name: "node2"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tries > 60 {
		t.Errorf("it took %d runs", tries)
	}
}

func TestShrinkStopsAfterItsTries(t *testing.T) {
	run := swarm.Run{Faults: fault.Plan{{ID: 3}, {ID: 7}, {ID: 8}}, Actions: []swarm.Action{{ID: 2}}}
	run.Cluster.Nodes = []swarm.Node{{Name: "node2"}}
	tries := 0
	got := swarm.Shrink(run, "commit-implies-probes", 2, func(r swarm.Run) string { tries++; return broken(r) })
	if tries != 2 || broken(got) == "" {
		t.Errorf("%d tries came to %v", tries, got)
	}
}

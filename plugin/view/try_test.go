package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestTryPolicyAsksOnce(t *testing.T) {
	long := int32(7)
	policy := &v1.NodeNetworkConfigurationPolicy{}
	policy.Spec.Probes = []v1.Probe{{Type: v1.ProbeConfirm, TimeoutSeconds: &long}, {Type: v1.ProbeDNS, Target: "example.com"}}
	minutes := int32(300)
	want := []v1.Probe{{Type: v1.ProbeDNS, Target: "example.com"}, {Type: v1.ProbeConfirm, TimeoutSeconds: &minutes}}
	if diff := cmp.Diff(want, TryPolicy(policy, 5*time.Minute).Spec.Probes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(policy.Spec.Probes) != 2 || policy.Spec.Probes[0].Type != v1.ProbeConfirm {
		t.Error("the policy of the file was changed")
	}
}

func TestQuestion(t *testing.T) {
	midnight := time.Date(2026, 11, 24, 23, 59, 30, 0, time.UTC)
	confirm := func(name, until string) Node { return Node{Name: name, Phase: Confirm, ConfirmUntil: until} }
	tests := map[string]struct {
		now   time.Time
		nodes []Node
		want  string
	}{
		"nobody waits":                     {now(), []Node{{Name: "node1", Phase: Changing}}, ""},
		"the one that has the least time":  {now(), []Node{confirm("node1", "12:05:00Z"), confirm("node2", "12:04:00Z")}, "keep the change on node1, node2? It is taken back in 3m30s, at 12:04:00Z [y/N]"},
		"the time is on the next day":      {midnight, []Node{confirm("node1", "00:00:10Z")}, "keep the change on node1? It is taken back in 40s, at 00:00:10Z [y/N]"},
		"the time is over":                 {now(), []Node{confirm("node1", "11:59:00Z")}, "keep the change on node1? It is taken back in 0s, at 11:59:00Z [y/N]"},
		"a node that does not tell a time": {now(), []Node{confirm("node1", "")}, "keep the change on node1? [y/N]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Policy{Nodes: tc.nodes}).Question(tc.now); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

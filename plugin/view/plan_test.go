package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// planned is the enactment of a node that has a plan.
func planned(node, hash string, class v1.Disruption, interfaces ...v1.PlannedInterface) v1.NodeNetworkConfigurationEnactment {
	e := on(node, v1.Planned, "planned")
	e.Status.Plan = &v1.EnactmentPlan{Hash: hash, Disruption: class, Interfaces: interfaces}
	return e
}

func mtuOf(name string, class v1.Disruption, reason string) v1.PlannedInterface {
	return v1.PlannedInterface{Name: name, Disruption: class, Reason: reason, Changes: []string{"mtu: 1500 -> 9000"}}
}

func TestPlanOf(t *testing.T) {
	eth1 := mtuOf("eth1", v1.DisruptionReapply, "settings change")
	eth0 := mtuOf("eth0", v1.DisruptionConnectivityRisk, "it has a default route, and it is made anew")
	warned := planned("node1", "aa", v1.DisruptionReapply, eth1)
	warned.Status.Plan.Changes, warned.Status.Plan.Warnings = []string{"routes.config: -> 198.51.100.0/24"}, []string{"br1 may close a ring"}
	older := planned("node2", "aa", v1.DisruptionReapply, eth1)
	older.Status.PolicyGeneration = 1
	tests := map[string]struct {
		condition  v1.ConditionType
		message    string
		enactments []v1.NodeNetworkConfigurationEnactment
		want       []string
		changes    bool
		missing    string
	}{
		"nodes with equal plans are one group, the worst first": {
			v1.Planned, "",
			[]v1.NodeNetworkConfigurationEnactment{
				planned("node2", "aa", v1.DisruptionReapply, eth1), planned("node1", "aa", v1.DisruptionReapply, eth1), planned("node3", "bb", v1.DisruptionConnectivityRisk, eth0, eth1),
				planned("node4", "cc", v1.DisruptionNone),
			},
			[]string{
				"mtu  1 node without a change, 2 Reapply, 1 ConnectivityRisk: eth0: it has a default route, and it is made anew",
				"bb  ConnectivityRisk  1 node: node3",
				"  eth0   mtu: 1500 -> 9000",
				"  eth1   mtu: 1500 -> 9000",
				"aa  Reapply  2 nodes: node1, node2",
				"  eth1   mtu: 1500 -> 9000",
				"cc  None  1 node: node4",
			}, true, "",
		},
		"nothing would change": {
			v1.Planned, "", []v1.NodeNetworkConfigurationEnactment{planned("node1", "aa", v1.DisruptionNone), planned("node2", "aa", v1.DisruptionNone)},
			[]string{"mtu  nothing would change on 2 nodes", "aa  None  2 nodes: node1, node2"}, false, "",
		},
		"what is no interface's, and what to look at": {
			v1.Planned, "", []v1.NodeNetworkConfigurationEnactment{warned},
			[]string{"mtu  1 Reapply: eth1: settings change", "aa  Reapply  1 node: node1", "  eth1      mtu: 1500 -> 9000", "  -         routes.config: -> 198.51.100.0/24", "  warning   br1 may close a ring"}, true, "",
		},
		"a node that refuses it": {
			v1.PolicyDegraded, "1/2 nodes failed to plan", []v1.NodeNetworkConfigurationEnactment{planned("node1", "aa", v1.DisruptionNone), on("node2", v1.EnactmentFailing, "policy mtu conflicts with policy other")},
			[]string{"mtu  1 node refused, 1 node without a change", "aa  None  1 node: node1", "refused  1 node: node2", "  policy mtu conflicts with policy other"}, false,
			"it fails on node2: policy mtu conflicts with policy other",
		},
		"a node that tells of an older generation has not answered": {
			v1.PolicyProgressing, "", []v1.NodeNetworkConfigurationEnactment{older},
			[]string{"mtu  no plan", "no answer  1 node: node2"}, false, "no answer from node2",
		},
		"a policy that is refused as a whole": {v1.PolicyDegraded, "spec.nodeSelector: no", nil, []string{"mtu  no plan"}, false, "spec.nodeSelector: no"},
		"a policy for no node":                {v1.PolicyIgnored, "Policy does not match any node", nil, []string{"mtu  Policy does not match any node"}, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := PlanOf("mtu", policyOf(tc.condition, tc.message, ""), tc.enactments)
			if diff := cmp.Diff(tc.want, got.Lines(NoPaint)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got.Changes != tc.changes || got.Missing() != tc.missing {
				t.Errorf("changes %v, missing %q", got.Changes, got.Missing())
			}
		})
	}
}

func TestPlanIsThere(t *testing.T) {
	tests := map[string]struct {
		kind    v1.ConditionType
		counts  v1.PolicyCounts
		edited  bool
		isThere bool
	}{
		"every node has one":                      {v1.Planned, v1.PolicyCounts{Matched: 2, Planned: 2}, false, true},
		"no node matches":                         {v1.PolicyIgnored, v1.PolicyCounts{}, false, true},
		"nodes are still at it":                   {v1.PolicyProgressing, v1.PolicyCounts{Matched: 2, Planned: 1}, false, false},
		"one fails and one is still at it":        {v1.PolicyDegraded, v1.PolicyCounts{Matched: 2, Failing: 1}, false, false},
		"one fails and the other one has one":     {v1.PolicyDegraded, v1.PolicyCounts{Matched: 2, Planned: 1, Failing: 1}, false, true},
		"the policy is refused":                   {v1.PolicyDegraded, v1.PolicyCounts{Matched: 2}, false, true},
		"what is told is of an older generation":  {v1.Planned, v1.PolicyCounts{Matched: 2, Planned: 2}, true, false},
		"nodes that are not Ready are left out":   {v1.Planned, v1.PolicyCounts{Matched: 1, Planned: 1, NotReady: 1}, false, true},
		"nobody has looked at it, without a word": {"", v1.PolicyCounts{}, false, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			policy := policyOf(tc.kind, "", "")
			policy.Status.Counts = tc.counts
			if tc.edited {
				policy.Generation++
			}
			if got := PlanIsThere(policy); got != tc.isThere {
				t.Errorf("%v, want %v", got, tc.isThere)
			}
		})
	}
}

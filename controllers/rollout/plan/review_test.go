package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func planOf(name, hash string, disruption v1.Disruption) on {
	return on{name: name, reported: generation, shows: showing(v1.Planned), plan: &v1.EnactmentPlan{Hash: hash, Disruption: disruption}}
}

func TestModePlanCollectsPlansAndGrantsNothing(t *testing.T) {
	conditions := func(degraded, available, progressing, reason, extra string) []string {
		return []string{"Degraded=" + degraded + reason, "Available=" + available + reason, "Progressing=" + progressing, "Ignored=False" + reason, extra}
	}
	progressing := func(message string) []string {
		return conditions("Unknown", "Unknown", "True ConfigurationProgressing: "+message, " ConfigurationProgressing", "Reconciling=True ConfigurationProgressing: "+message)
	}
	planned := func(message string) []string {
		return conditions("False", "False", "False Planned", " Planned", "Planned=True Planned: "+message)
	}
	tests := map[string]struct {
		nodes  []on
		want   []string
		counts v1.PolicyCounts
		plans  []v1.PolicyPlan
	}{
		"nodes without a plan are waited for": {
			nodes:  []on{planOf("a", "x", v1.DisruptionReapply), {name: "b"}, {name: "c", bare: true}},
			want:   progressing("Policy is progressing 1/3 nodes planned, 2 pending"),
			counts: v1.PolicyCounts{Matched: 3, Pending: 2, Planned: 1},
			plans:  []v1.PolicyPlan{{Hash: "x", Disruption: v1.DisruptionReapply, Nodes: 1, Example: "a"}},
		},
		"a plan of an older generation does not count": {
			nodes:  []on{not(planOf("a", "x", v1.DisruptionReapply), func(o *on) { o.reported-- })},
			want:   progressing("Policy is progressing 0/1 nodes planned, 1 pending"),
			counts: v1.PolicyCounts{Matched: 1, Pending: 1},
		},
		"when all plans are there each stands once, the most disruptive first, then the most frequent": {
			nodes: []on{
				planOf("a", "x", v1.DisruptionReapply), planOf("b", "y", v1.DisruptionConnectivityRisk), planOf("c", "z", v1.DisruptionReapply),
				planOf("d", "z", v1.DisruptionReapply), planOf("e", "w", v1.DisruptionNone),
			},
			want:   planned("5/5 nodes planned"),
			counts: v1.PolicyCounts{Matched: 5, Planned: 5},
			plans: []v1.PolicyPlan{
				{Hash: "y", Disruption: v1.DisruptionConnectivityRisk, Nodes: 1, Example: "b"},
				{Hash: "z", Disruption: v1.DisruptionReapply, Nodes: 2, Example: "c"},
				{Hash: "x", Disruption: v1.DisruptionReapply, Nodes: 1, Example: "a"},
				{Hash: "w", Disruption: v1.DisruptionNone, Nodes: 1, Example: "e"},
			},
		},
		"a node that is not Ready is left out": {
			nodes:  []on{planOf("a", "x", v1.DisruptionNone), {name: "b", notReady: true}},
			want:   planned("1/2 nodes planned, 1 nodes ignored due to NotReady state"),
			counts: v1.PolicyCounts{Matched: 1, NotReady: 1, Planned: 1},
			plans:  []v1.PolicyPlan{{Hash: "x", Disruption: v1.DisruptionNone, Nodes: 1, Example: "a"}},
		},
		"a node on which there can be no plan is a failure": {
			nodes: []on{planOf("a", "x", v1.DisruptionNone), {name: "b", reported: generation, shows: showing(v1.EnactmentFailing)}},
			want: conditions("True FailedToConfigure: 1/2 nodes failed to plan", "False FailedToConfigure", "False ConfigurationProgressing", "",
				"Stalled=True FailedToConfigure: 1/2 nodes failed to plan"),
			counts: v1.PolicyCounts{Matched: 2, Failing: 1, Planned: 1},
			plans:  []v1.PolicyPlan{{Hash: "x", Disruption: v1.DisruptionNone, Nodes: 1, Example: "a"}},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(intstr.FromInt32(1), test.nodes)
			in.Policy.Spec.Mode = modePlan
			out := decided(t, in)
			if len(out.Grants)+len(out.Aborts)+len(out.Unaborts) > 0 {
				t.Errorf("grants %q, aborts %q, unaborts %q", out.Grants, out.Aborts, out.Unaborts)
			}
			if test.want[3] == "Ignored=False" {
				test.want[3] += " FailedToConfigure"
			}
			if diff := cmp.Diff(test.want, render(out.Status)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.counts, out.Status.Counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.plans, out.Status.Plans); diff != "" {
				t.Errorf("plans (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPlanThatIsNewIsWritten(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{planOf("a", "x", v1.DisruptionNone)})
	in.Policy.Spec.Mode = modePlan
	in.Policy.Status = decided(t, in).Status
	if out := decided(t, in); out.StatusChanged {
		t.Errorf("nothing is new, yet: %q", out.Notes)
	}
	in.Enactments[0] = planOf("a", "y", v1.DisruptionNone).enactment()
	if out := decided(t, in); !out.StatusChanged || out.StatusUrgent {
		t.Errorf("changed %v, urgent %v", out.StatusChanged, out.StatusUrgent)
	}
}

func TestAStatusListsAHundredPlans(t *testing.T) {
	var nodes []on
	for i := range 150 {
		nodes = append(nodes, planOf(fmt.Sprintf("node%03d", i), fmt.Sprintf("%03d", i), v1.DisruptionNone))
	}
	in := inputOf(intstr.FromInt32(1), nodes)
	in.Policy.Spec.Mode = modePlan
	if plans := decided(t, in).Status.Plans; len(plans) != 100 || plans[99].Hash != "099" {
		t.Errorf("%d plans", len(plans))
	}
}

func TestAnUnknownClassOfDisruptionMightBeTheWorst(t *testing.T) {
	if v1.Disruption("Unheard").Severity() <= v1.DisruptionConnectivityRisk.Severity() || v1.DisruptionNone.Severity() != 0 {
		t.Error("the classes are not in order")
	}
}

package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const generation = 3

// on is a node and its enactment, for tables.
type on struct {
	name     string
	notReady bool
	// changed is for how long the node has been Ready or not, joined for how long it is
	// there; unreported: no handler has spoken there.
	changed, joined time.Duration
	unreported      bool
	// silent: for how long no handler runs there.
	silent time.Duration
	// elsewhere: the node no longer matches.
	elsewhere bool
	// gone: the node is deleted, its enactment not yet.
	gone bool
	// bare: no enactment.
	bare              bool
	approved, aborted int64
	// reported is status.policyGeneration; shows are the True conditions.
	reported int64
	shows    []v1.ConditionType
	owner    types.UID
	// hash is what the reported generation comes to on the node, approvedHash
	// what is granted of it, and has what is committed of which generation.
	hash, approvedHash string
	has                *v1.CommittedPolicy
	plan               *v1.EnactmentPlan
	retry              *v1.EnactmentRetry
	// setAside: the enactment says that nobody manages the node.
	setAside bool
	// plane: it is one of the control plane's.
	plane bool
	// asks: it waits to undo the policy; leave: it may.
	asks, leave bool
}

// onlyTheNode is left as an owner once a deleted policy's was taken away.
const onlyTheNode types.UID = "only the node"

func (o on) enactment() v1.NodeNetworkConfigurationEnactment {
	e := v1.NodeNetworkConfigurationEnactment{
		ObjectMeta: metav1.ObjectMeta{
			Name: o.name + ".p", Labels: map[string]string{v1.EnactmentPolicyLabel: "p", v1.EnactmentNodeLabel: o.name},
		},
		Spec: v1.NodeNetworkConfigurationEnactmentSpec{
			ApprovedGeneration: o.approved, AbortedGeneration: o.aborted, ApprovedHash: o.approvedHash,
			Leave: o.leave,
		},
		Status: v1.NodeNetworkConfigurationEnactmentStatus{
			PolicyGeneration: o.reported, Hash: o.hash, Committed: o.has, Plan: o.plan, Retry: o.retry,
			WaitsToLeave: o.asks,
		},
	}
	if o.owner == onlyTheNode {
		e.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: o.name, UID: "node"}}
	} else if o.owner != "" {
		e.OwnerReferences = []metav1.OwnerReference{{Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: o.owner}}
	}
	for _, conditionType := range o.shows {
		e.Status.Conditions = append(e.Status.Conditions, v1.Condition{Type: conditionType, Status: metav1.ConditionTrue})
	}
	if o.setAside {
		e.Status.Conditions = append(e.Status.Conditions, v1.Condition{
			Type: v1.EnactmentPending, Status: metav1.ConditionTrue, Message: "node is not managed (NodeNetworkState.spec.managed is false)",
		})
	}
	return e
}

// decided is the plan, which is the same whether the enactments are whole or as the
// controllers' cache keeps them.
func decided(t testing.TB, in Input) Output {
	t.Helper()
	out := Make(in)
	cached := in
	cached.Enactments = slices.Clone(in.Enactments)
	for i := range cached.Enactments {
		cached.Enactments[i].Status = Reads(cached.Enactments[i].Status)
	}
	if diff := cmp.Diff(out, Make(cached)); diff != "" {
		t.Errorf("the cache does not keep what the plan reads (-whole +cached):\n%s", diff)
	}
	return out
}

func inputOf(limit intstr.IntOrString, nodes []on) Input {
	in := Input{
		ControlPlane: ControlPlane{Away: map[string]string{}},
		Policy: &v1.NodeNetworkConfigurationPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "this", Generation: generation},
			Spec:       v1.NodeNetworkConfigurationPolicySpec{MaxUnavailable: &limit, DesiredState: v1.NewState([]byte(`{"hostname":{"config":"a"}}`))},
		},
		Now:       metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
		Grace:     10 * time.Minute,
		Installed: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for _, o := range nodes {
		if !o.gone {
			var silent *Silence
			if o.silent > 0 {
				silent = &Silence{For: o.silent, Cause: "pod handler-" + o.name + " is not Ready (CrashLoopBackOff)"}
			}
			in.Nodes = append(in.Nodes, Node{
				Silent: silent, Name: o.name, Ready: !o.notReady, Matches: !o.elsewhere, Unreported: o.unreported,
				NotReadyFor: o.changed, Since: in.Now.Add(-o.changed), Created: in.Now.Add(-o.joined), ControlPlane: o.plane,
			})
			if o.plane {
				in.ControlPlane.Nodes++
			}
			if o.plane && o.notReady {
				in.ControlPlane.Away[o.name] = "not Ready"
			}
		}
		if !o.bare {
			in.Enactments = append(in.Enactments, o.enactment())
		}
	}
	return in
}

func showing(conditions ...v1.ConditionType) []v1.ConditionType { return conditions }

func TestPlanDecides(t *testing.T) {
	const (
		failing, isAvailable, isProgressing = v1.EnactmentFailing, v1.EnactmentAvailable, v1.EnactmentProgressing
	)
	done := func(name string) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(isAvailable)}
	}
	bad := func(name string) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(failing)}
	}
	tests := map[string]struct {
		limit                    intstr.IntOrString
		nodes                    []on
		grants, aborts, unaborts []string
	}{
		"with nothing begun, as many as the limit are granted, by name": {
			limit: intstr.FromInt32(2), nodes: []on{{name: "c"}, {name: "a"}, {name: "b"}}, grants: []string{"a", "b"},
		},
		"a percentage is of all matching nodes, Ready or not, and rounded up": {
			limit: intstr.FromString("34%"), nodes: []on{{name: "a"}, {name: "b"}, {name: "c", notReady: true}}, grants: []string{"a", "b"},
		},
		"at least one node may change, whatever the percentage": {
			limit: intstr.FromString("1%"), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a"},
		},
		"where an edit has lowered the limit, who may only be about to begin an older generation waits for who has": {
			limit: intstr.FromInt32(1), nodes: []on{{name: "a", approved: 2, reported: 2, shows: showing(v1.EnactmentPending)}, {name: "b", approved: 2, reported: 2, shows: showing(isProgressing)}},
			grants: []string{"b"},
		},
		"an approved node that says nothing yet holds its slot": {
			limit: intstr.FromInt32(1), nodes: []on{{name: "b", approved: generation}, {name: "a"}},
		},
		"an Available node's slot is free": {
			limit: intstr.FromInt32(1), nodes: []on{done("a"), {name: "b"}}, grants: []string{"b"},
		},
		"a node that was Available at an older generation is no longer": {
			limit: intstr.FromInt32(1),
			nodes: []on{{name: "a", approved: 2, reported: 2, shows: showing(isAvailable)}}, grants: []string{"a"},
		},
		"a failing node keeps its slot": {
			limit: intstr.FromInt32(2), nodes: []on{bad("a"), {name: "b"}, {name: "c"}}, grants: []string{"b"},
		},
		"as many failing nodes as the limit abort the rest": {
			limit: intstr.FromInt32(2), nodes: []on{bad("a"), bad("b"), {name: "c"}, done("d"), {name: "e"}}, aborts: []string{"c", "e"},
		},
		"a retrying node counts as failing": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a", approved: generation, reported: generation, shows: showing(failing, isProgressing)}, {name: "b"},
			},
			aborts: []string{"b"},
		},
		"a node that is approved already is not aborted": {
			limit: intstr.FromInt32(1), nodes: []on{bad("a"), {name: "b", approved: generation}, {name: "c"}}, aborts: []string{"c"},
		},
		"a node that is aborted already is not aborted again": {
			limit: intstr.FromInt32(1), nodes: []on{bad("a"), {name: "b", aborted: generation}},
		},
		"when fewer fail than the limit, the aborted ones are granted what is free and the others wait again": {
			limit:  intstr.FromInt32(2),
			nodes:  []on{bad("a"), {name: "b", aborted: generation}, {name: "c", aborted: generation}},
			grants: []string{"b"}, unaborts: []string{"c"},
		},
		"a failed node that tries again lets no aborted one go on until it has succeeded": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a", approved: generation, reported: generation, shows: showing(v1.EnactmentProgressing), retry: &v1.EnactmentRetry{Attempts: 1}},
				{name: "b", aborted: generation},
			},
		},
		"a node that is changing for an older generation waits for one that left with a grant of this one": {
			limit: intstr.FromInt32(1), nodes: []on{
				{name: "a", approved: generation, reported: generation, elsewhere: true},
				{name: "b", approved: generation - 1, reported: generation},
			},
		},
		"nor do two that were changing go on while one of them leaves, where one may be changing now": {
			limit: intstr.FromInt32(1), nodes: []on{
				{name: "a", approved: generation - 1, reported: generation - 1, elsewhere: true},
				{name: "b", approved: generation - 1, reported: generation - 1, shows: showing(isProgressing)},
			},
		},
		"a node that nobody manages and that no longer matches stands in nobody's way": {
			limit: intstr.FromInt32(1),
			nodes: []on{{name: "a", elsewhere: true, approved: 1, reported: 1, setAside: true}, {name: "b"}}, grants: []string{"b"},
		},
		"an aborted node that is not Ready waits again, too": {
			limit: intstr.FromInt32(1), nodes: []on{{name: "a", notReady: true, aborted: generation}}, unaborts: []string{"a"},
		},
		"a failing node that is deleted frees its slot and the aborted ones": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a", gone: true, approved: generation, reported: generation, shows: showing(failing)}, {name: "b", aborted: generation}},
			grants: []string{"b"},
		},
		"an abort of an older generation does not matter": {
			limit: intstr.FromInt32(1), nodes: []on{{name: "a", aborted: 2}}, grants: []string{"a"},
		},
		"a node that is not Ready is not granted": {
			limit: intstr.FromInt32(2), nodes: []on{{name: "a", notReady: true}, {name: "b"}}, grants: []string{"b"},
		},
		"a node without an enactment cannot be granted": {
			limit: intstr.FromInt32(1), nodes: []on{{name: "a", bare: true}, {name: "b"}}, grants: []string{"b"},
		},
		"a failure at an older generation holds no slot of the new one": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a"}, {name: "b", approved: 2, reported: 2, shows: showing(failing)}},
			grants: []string{"a"},
		},
		"a node on which an older generation is still being applied is granted first": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a"}, {name: "b", approved: 2, reported: 2, shows: showing(isProgressing)}},
			grants: []string{"b"},
		},
		"a node that was granted an older generation and says nothing yet may be changing": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a"}, {name: "b", approved: 2, reported: 1, shows: showing(isAvailable)}},
			grants: []string{"b"},
		},
		"a node whose older generation has ended is like any other": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a"}, {name: "b", approved: 2, reported: generation, shows: showing(v1.EnactmentPending)}},
			grants: []string{"a"},
		},
		"more nodes are changing than the new limit allows: only as many as it allows get the new generation": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a", approved: 2, reported: 2, shows: showing(isProgressing)},
				{name: "b", approved: 2, reported: 2, shows: showing(isProgressing)},
			},
			grants: []string{"a"},
		},
		"a node that no longer matches occupies a slot until its change has ended": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a"}, {name: "b", elsewhere: true, approved: generation, reported: generation, shows: showing(isProgressing)},
			},
		},
		"a failing node that no longer matches and would try again keeps its slot until it has gone: out of reach, it does not know": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a"}, {name: "b", elsewhere: true, approved: generation, reported: generation, shows: showing(failing), retry: &v1.EnactmentRetry{Attempts: 2, After: &metav1.Time{}}},
			},
		},
		"a failing node that no longer matches holds nothing up": {
			limit: intstr.FromInt32(1),
			nodes: []on{
				{name: "a"}, {name: "b", elsewhere: true, approved: generation, reported: generation, shows: showing(failing)},
			},
			grants: []string{"a"},
		},
		"an enactment of a deleted policy of the same name is not granted": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a", owner: "another", approved: 1, reported: 1, shows: showing(isAvailable)}, {name: "b", owner: "this"}},
			grants: []string{"b"},
		},
		"an enactment of a deleted policy of this name that lost its owner is not this one's": {
			limit:  intstr.FromInt32(1),
			nodes:  []on{{name: "a", owner: onlyTheNode, approved: 9, reported: 9, shows: showing(isAvailable)}, {name: "b", owner: "this"}},
			grants: []string{"b"},
		},
		"an enactment of a deleted policy of the same name occupies a slot while it is being applied": {
			limit: intstr.FromInt32(1),
			nodes: []on{{name: "a", owner: "another", approved: 9, reported: 9, shows: showing(isProgressing)}, {name: "b", owner: "this"}},
		},
		"a policy that was read too old is left alone": {
			limit: intstr.FromInt32(2), nodes: []on{{name: "a", approved: generation + 1}, {name: "b"}},
		},
		"a number below 1 counts as 1":              {limit: intstr.FromInt32(0), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a"}},
		"a percentage above 100 allows all":         {limit: intstr.FromString("200%"), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a", "b"}},
		"a percentage of 0 counts as 1":             {limit: intstr.FromString("0%"), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a"}},
		"what is no number at all is refused":       {limit: intstr.FromString("half"), nodes: []on{{name: "a"}}},
		"a number of less than 0 in quotes is, too": {limit: intstr.FromString("-5"), nodes: []on{{name: "a"}}},
		"and one with a sign":                       {limit: intstr.FromString("+5"), nodes: []on{{name: "a"}}},
		"a percentage of less than 0 is refused":    {limit: intstr.FromString("-5%"), nodes: []on{{name: "a"}}},
		"a number in quotes is that number":         {limit: intstr.FromString("2"), nodes: []on{{name: "a"}, {name: "b"}, {name: "c"}}, grants: []string{"a", "b"}},
		"in quotes, too, less than 1 counts as 1":   {limit: intstr.FromString("0"), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a"}},
		"a number above the node count allows all":  {limit: intstr.FromInt32(9), nodes: []on{{name: "a"}}, grants: []string{"a"}},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			out := decided(t, inputOf(test.limit, test.nodes))
			got := [][]string{out.Grants, out.Aborts, out.Unaborts}
			if diff := cmp.Diff([][]string{test.grants, test.aborts, test.unaborts}, got); diff != "" {
				t.Errorf("grants, aborts, unaborts (-want +got):\n%s\n%s", diff, strings.Join(out.Notes, "\n"))
			}
			for _, note := range out.Notes {
				if strings.Contains(note, "\n") {
					t.Errorf("a note is not one line: %q", note)
				}
			}
		})
	}
}

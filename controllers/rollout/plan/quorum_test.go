package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestTheControlPlaneKeepsItsQuorum(t *testing.T) {
	is := func(one on) on {
		one.plane = true
		return one
	}
	at := func(name string, kind v1.ConditionType) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(kind)}
	}
	fresh := func(name string) on { return is(on{name: name}) }
	for sentence, test := range map[string]struct {
		limit intstr.IntOrString
		nodes []on
		// others are nodes of the control plane that the policy does not select: why each is away.
		others         map[string]string
		grants, aborts []string
		// waits is what the message says.
		waits string
	}{
		"of three nodes one begins, whatever maxUnavailable says": {
			limit: intstr.FromString("100%"), nodes: []on{fresh("a"), fresh("b"), fresh("c"), {name: "d"}, {name: "e"}}, grants: []string{"a", "d", "e"},
		},
		"of five nodes two begin":                           {limit: intstr.FromInt32(9), nodes: []on{fresh("a"), fresh("b"), fresh("c"), fresh("d"), fresh("e")}, grants: []string{"a", "b"}},
		"of two nodes one begins, since it must":            {limit: intstr.FromInt32(2), nodes: []on{fresh("a"), fresh("b")}, grants: []string{"a"}},
		"the only one begins":                               {limit: intstr.FromInt32(2), nodes: []on{fresh("a"), {name: "b"}}, grants: []string{"a", "b"}},
		"as many as maxUnavailable begin, if that is fewer": {limit: intstr.FromInt32(1), nodes: []on{fresh("a"), fresh("b"), fresh("c"), fresh("d"), fresh("e")}, grants: []string{"a"}},
		"the next one begins when the first one is done": {
			limit: intstr.FromInt32(2), nodes: []on{is(at("a", v1.EnactmentAvailable)), fresh("b"), fresh("c")}, grants: []string{"b"},
		},
		"and not while it is changing": {limit: intstr.FromInt32(2), nodes: []on{is(at("a", v1.EnactmentProgressing)), fresh("b"), fresh("c")}},
		"where it fails the others do not begin, as with maxUnavailable": {
			limit: intstr.FromInt32(2), nodes: []on{is(at("a", v1.EnactmentFailing)), fresh("b"), fresh("c"), {name: "d"}}, grants: []string{"d"}, aborts: []string{"b", "c"},
		},
		"also where one of them is still changing for an older generation": {
			limit: intstr.FromInt32(2), nodes: []on{is(at("a", v1.EnactmentFailing)), is(on{name: "b", approved: 2, reported: 2, shows: showing(v1.EnactmentProgressing)}), fresh("c")},
			aborts: []string{"b", "c"},
		},
		"and nobody tells them otherwise as long as it does": {
			limit: intstr.FromInt32(2), nodes: []on{is(at("a", v1.EnactmentFailing)), is(on{name: "b", aborted: generation}), at("d", v1.EnactmentAvailable)},
		},
		"nor while it is not Ready": {
			limit: intstr.FromInt32(2), nodes: []on{is(on{name: "a", notReady: true}), fresh("b"), fresh("c"), at("d", v1.EnactmentAvailable)},
			waits: "waiting: b, c of the control plane: of its 3 nodes 1 may be away at a time, and a (not Ready) is",
		},
		"a node that the policy does not select counts": {
			limit: intstr.FromInt32(2), nodes: []on{fresh("a"), fresh("b"), {name: "d"}}, others: map[string]string{"c": "policy other changes it"}, grants: []string{"d"},
		},
		"one that is changing for an older generation may go on with this one": {
			limit:  intstr.FromInt32(2),
			nodes:  []on{is(on{name: "a", approved: 2, reported: 2, shows: showing(v1.EnactmentProgressing)}), fresh("b"), fresh("c")},
			grants: []string{"a"},
		},
		"one on which another policy is at work may begin: it is away in any case": {
			limit: intstr.FromInt32(2), nodes: []on{fresh("a"), fresh("b"), fresh("c")}, others: map[string]string{"b": "policy other changes it"}, grants: []string{"b"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(test.limit, test.nodes)
			for name, why := range test.others {
				in.ControlPlane.Away[name] = why
				if !hasNode(in, name) {
					in.ControlPlane.Nodes++
				}
			}
			out := decided(t, in)
			if diff := cmp.Diff(test.grants, out.Grants); diff != "" {
				t.Errorf("grants (-want +got):\n%s\n%v", diff, out.Notes)
			}
			if diff := cmp.Diff(test.aborts, out.Aborts); diff != "" {
				t.Errorf("aborts (-want +got):\n%s\n%v", diff, out.Notes)
			}
			if again := decided(t, written(in, out)); len(again.Grants)+len(again.Aborts)+len(again.Unaborts) > 0 {
				t.Errorf("written, it decides again: %q", again.Notes)
			}
			if len(out.Unaborts) > 0 {
				t.Errorf("%v wait again", out.Unaborts)
			}
			if test.waits != "" && out.Status.Message != test.waits {
				t.Errorf("the message is %q, and should be %q", out.Status.Message, test.waits)
			}
		})
	}
}

func TestWhoMayBeChangingItsNode(t *testing.T) {
	at := func(o on) *v1.NodeNetworkConfigurationEnactment {
		o.approved, o.reported = generation, generation
		e := o.enactment()
		return &e
	}
	other := &v1.CommittedPolicy{Generation: generation, Hash: "old"}
	for sentence, test := range map[string]struct {
		on
		may bool
	}{
		"what was granted and has not ended may":                         {on{hash: "new", shows: showing(v1.EnactmentPending)}, true},
		"what has ended does not":                                        {on{hash: "new", shows: showing(v1.EnactmentAvailable)}, false},
		"what nobody knows yet does not":                                 {on{shows: showing(v1.EnactmentPending)}, false},
		"what was granted as another rendering waits for a grant":        {on{hash: "new", approvedHash: "old", shows: showing(v1.EnactmentPending)}, false},
		"and may while a transaction is open":                            {on{hash: "new", approvedHash: "old", shows: showing(v1.EnactmentProgressing)}, true},
		"what was granted as this rendering may":                         {on{hash: "new", approvedHash: "new", has: other, shows: showing(v1.EnactmentPending)}, true},
		"what the node has as another rendering waits for a grant":       {on{hash: "new", has: other, shows: showing(v1.EnactmentPending)}, false},
		"what is undone may":                                             {on{hash: "new", asks: true, leave: true, shows: showing(v1.EnactmentPending)}, true},
		"what waits to be undone does not":                               {on{hash: "new", asks: true, shows: showing(v1.EnactmentPending)}, false},
		"what waits to be undone on a node that nobody manages does not": {on{hash: "new", asks: true, leave: true, setAside: true}, false},
	} {
		if may := MayChangeNode(at(test.on)); may != test.may {
			t.Errorf("%s: %v", sentence, may)
		}
	}
}

// written is the input once what was decided is written.
func written(in Input, out Output) Input {
	in.Enactments = slices.Clone(in.Enactments)
	for i := range in.Enactments {
		spec, node := &in.Enactments[i].Spec, in.Enactments[i].Node()
		switch {
		case slices.Contains(out.Grants, node):
			spec.ApprovedGeneration, spec.AbortedGeneration = out.Generation, 0
		case slices.Contains(out.Aborts, node):
			spec.AbortedGeneration = out.Generation
		case slices.Contains(out.Unaborts, node):
			spec.AbortedGeneration = 0
		}
	}
	return in
}

func hasNode(in Input, name string) bool {
	for _, node := range in.Nodes {
		if node.Name == name {
			return true
		}
	}
	return false
}

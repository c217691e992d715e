package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAPolicyLeavesItsNodesByTurns(t *testing.T) {
	had := func(name string) on {
		return on{name: name, elsewhere: true, approved: generation, reported: generation, hash: "x", shows: showing(v1.EnactmentAvailable)}
	}
	asks := func(name string) on {
		one := had(name)
		one.asks, one.shows = true, showing(v1.EnactmentPending)
		return one
	}
	leaves := func(name string) on {
		one := asks(name)
		one.leave = true
		return one
	}
	is := func(one on, changes ...func(*on)) on {
		for _, change := range changes {
			change(&one)
		}
		return one
	}
	ofPlane := func(o *on) { o.plane = true }
	notReady := func(o *on) { o.notReady, o.changed = true, time.Minute }
	longGone := func(o *on) { o.notReady, o.changed = true, time.Hour }
	aside := func(o *on) { o.shows, o.setAside = nil, true }
	fails := func(o *on) { o.shows = showing(v1.EnactmentFailing) }
	for sentence, test := range map[string]struct {
		limit intstr.IntOrString
		nodes []on
		// others are nodes of the control plane that do not have the policy, and why each is away.
		others map[string]string
		leaves []string
		again  time.Duration
	}{
		"half of those that it leaves may undo it at a time, if the policy says nothing else": {
			limit: intstr.FromString("50%"), nodes: []on{asks("a"), asks("b"), asks("c")}, leaves: []string{"a", "b"}, again: leavePause,
		},
		"those that have not asked yet count": {
			limit: intstr.FromString("50%"), nodes: []on{asks("a"), asks("b"), had("c"), had("d")}, leaves: []string{"a", "b"},
		},
		"as many as the policy says": {
			limit: intstr.FromInt32(1), nodes: []on{asks("a"), asks("b"), asks("c")}, leaves: []string{"a"}, again: leavePause,
		},
		"the next one follows when one has left": {
			limit: intstr.FromInt32(2), nodes: []on{leaves("b"), asks("c"), asks("d")}, leaves: []string{"c"}, again: leavePause,
		},
		"and not while it is at it": {
			limit: intstr.FromInt32(1), nodes: []on{leaves("b"), asks("c")}, again: leavePause,
		},
		"nor while it fails there and tries again": {
			limit: intstr.FromInt32(1), nodes: []on{is(leaves("b"), fails), asks("c")}, again: leavePause,
		},
		"one on which nobody manages anything holds nobody up, and is not let": {
			limit: intstr.FromInt32(1), nodes: []on{is(leaves("b"), aside), is(asks("c"), aside), asks("d")}, leaves: []string{"d"},
		},
		"one that died holds nobody up once it could have ended": {
			limit: intstr.FromInt32(1), nodes: []on{is(leaves("b"), longGone), asks("d")}, leaves: []string{"d"},
		},
		"before that it does": {
			limit: intstr.FromInt32(1), nodes: []on{is(leaves("b"), notReady), asks("d")}, again: leavePause,
		},
		"one that is not Ready takes nothing from the others, and the policy may be why": {
			limit: intstr.FromInt32(1), nodes: []on{asks("a"), is(asks("b"), notReady), is(asks("c"), notReady)}, leaves: []string{"a", "b", "c"},
		},
		"of three nodes of the control plane one undoes it": {
			limit: intstr.FromInt32(9), nodes: []on{is(asks("a"), ofPlane), is(asks("b"), ofPlane), is(asks("c"), ofPlane), asks("d")}, leaves: []string{"a", "d"}, again: leavePause,
		},
		"and none while another policy changes another one": {
			limit: intstr.FromInt32(9), nodes: []on{is(asks("a"), ofPlane), is(asks("b"), ofPlane)}, others: map[string]string{"c": "policy other changes it"}, again: leavePause,
		},
		"where two are not Ready both undo it: that may bring them back": {
			limit: intstr.FromInt32(1), nodes: []on{is(asks("a"), ofPlane, notReady), is(asks("b"), ofPlane, notReady), is(asks("c"), ofPlane)}, leaves: []string{"a", "b"}, again: leavePause,
		},
		"a number that nobody can read counts as none": {
			limit: intstr.FromString("some"), nodes: []on{asks("a"), asks("b"), asks("c"), asks("d")}, leaves: []string{"a", "b"}, again: leavePause,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(test.limit, test.nodes)
			for name, why := range test.others {
				in.ControlPlane.Away[name] = why
				in.ControlPlane.Nodes++
			}
			there := Make(in)
			in.Policy = nil
			for i := range in.Enactments {
				in.Enactments[i].Spec.MaxUnavailable = &test.limit
			}
			gone := Leave(in)
			for what, out := range map[string]Output{"no longer selects them": there, "is gone": gone} {
				got := slices.Sorted(slices.Values(out.Leaves))
				if diff := cmp.Diff(test.leaves, got); diff != "" {
					t.Errorf("the policy %s: leaves (-want +got):\n%s\n%v", what, diff, out.Notes)
				}
			}
			if gone.RequeueAfter != test.again {
				t.Errorf("again in %v, want %v", gone.RequeueAfter, test.again)
			}
			if len(there.Grants)+len(there.Aborts)+len(there.Stays) > 0 {
				t.Errorf("it decides more: %v", there.Notes)
			}
		})
	}
}

func TestANodeThatLeavesHoldsASlotAndOneThatWaitsToDoesNot(t *testing.T) {
	leaves := on{name: "a", elsewhere: true, approved: generation, reported: generation, hash: "x", shows: showing(v1.EnactmentPending), asks: true}
	out := decided(t, inputOf(intstr.FromInt32(1), []on{leaves, {name: "b"}}))
	if diff := cmp.Diff([]string{"a"}, out.Leaves); diff != "" || len(out.Grants) > 0 {
		t.Errorf("leaves (-want +got):\n%s\ngrants %v", diff, out.Grants)
	}
	leaves.leave = true
	if out := decided(t, inputOf(intstr.FromInt32(1), []on{leaves, {name: "b"}})); len(out.Grants) > 0 {
		t.Errorf("a leaves, and %v is granted", out.Grants)
	}
	leaves.leave, leaves.shows, leaves.setAside = false, nil, true
	if out := decided(t, inputOf(intstr.FromInt32(1), []on{leaves, {name: "b"}})); len(out.Grants) != 1 {
		t.Errorf("a waits until somebody manages it, and b is not granted: %v", out.Notes)
	}
}

func TestANodeOfTheControlPlaneThatFailedIsNotAwayForOneThatLeaves(t *testing.T) {
	asks := on{name: "a", plane: true, elsewhere: true, approved: generation, reported: generation, hash: "x", asks: true}
	fails := on{name: "b", plane: true, approved: generation, reported: generation, shows: showing(v1.EnactmentFailing)}
	if out := decided(t, inputOf(intstr.FromInt32(1), []on{asks, fails})); len(out.Leaves) != 1 {
		t.Errorf("a waits: %v", out.Notes)
	}
	fails.shows = showing(v1.EnactmentFailing, v1.EnactmentProgressing)
	if out := decided(t, inputOf(intstr.FromInt32(1), []on{asks, fails})); len(out.Leaves) != 0 {
		t.Errorf("b tries again, and a leaves: %v", out.Notes)
	}
}

func TestWhatADeletedPolicyOfTheSameNameHasLeftIsUndoneByTurnsToo(t *testing.T) {
	old := func(name string) on {
		return on{name: name, owner: "older", approved: 1, reported: 1, hash: "x", asks: true}
	}
	out := decided(t, inputOf(intstr.FromInt32(1), []on{old("a"), old("b")}))
	if diff := cmp.Diff([]string{"a"}, out.Leaves); diff != "" {
		t.Errorf("leaves (-want +got):\n%s\n%v", diff, out.Notes)
	}
}

func TestANodeThatIsSelectedAgainMayNotLeaveAnyMore(t *testing.T) {
	node := on{name: "a", owner: "this", approved: generation, reported: generation, hash: "x", shows: showing(v1.EnactmentAvailable), leave: true}
	out := decided(t, inputOf(intstr.FromInt32(1), []on{node}))
	if diff := cmp.Diff([]string{"a"}, out.Stays); diff != "" {
		t.Errorf("stays (-want +got):\n%s\n%v", diff, out.Notes)
	}
}

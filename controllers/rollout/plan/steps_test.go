package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// noon is the time of the plans in these tables.
var noon = metav1.NewTime(time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC))

// configured has the generation since some time before noon.
func configured(name string, before time.Duration) on {
	return on{
		name: name, approved: generation, reported: generation, shows: showing(v1.EnactmentAvailable), hash: "new",
		has: &v1.CommittedPolicy{Generation: generation, Hash: "new", Since: metav1.NewTime(noon.Add(-before))},
	}
}

func begunOn(name string) on {
	return on{name: name, approved: generation, reported: generation, shows: showing(v1.EnactmentProgressing)}
}

func failedOn(name string) on {
	return on{name: name, approved: generation, reported: generation, shows: showing(v1.EnactmentFailing)}
}

// waitsWith has an older generation committed, and tells how the new one comes
// out there.
func waitsWith(name, hash string) on {
	return on{
		name: name, approved: generation - 1, reported: generation, shows: showing(v1.EnactmentPending), hash: hash,
		has: &v1.CommittedPolicy{Generation: generation - 1, Hash: "old", Since: metav1.NewTime(noon.Add(-time.Hour))},
	}
}

// wantsAgainOn has the generation committed as it came out there before.
func wantsAgainOn(name, approvedHash string, shows ...v1.ConditionType) on {
	return on{
		name: name, approved: generation, approvedHash: approvedHash, reported: generation, shows: shows, hash: "changed",
		has: &v1.CommittedPolicy{Generation: generation, Hash: "new", Since: metav1.NewTime(noon.Add(-time.Hour))},
	}
}

func not(o on, change func(*on)) on {
	change(&o)
	return o
}

func TestPlanGoesStepByStep(t *testing.T) {
	canary := func(count int32) *v1.Rollout { return &v1.Rollout{Canary: new(count)} }
	pausing := &v1.Rollout{Canary: new(int32(1)), PauseAfterCanary: true}
	soaking := &v1.Rollout{SoakSeconds: 60}
	soakingCanary := &v1.Rollout{Canary: new(int32(1)), SoakSeconds: 60}
	away := func(o *on) { o.notReady = true }
	tests := map[string]struct {
		rollout *v1.Rollout
		limit   int32 // 3 if 0
		nodes   []on
		grants  []string // with the rendering, where it is for one only
		aborts  []string
		// says is in the policy's message; again is when it is planned again.
		says  string
		again time.Duration
		// seen is for how long this process has seen them configured.
		seen map[string]time.Duration
	}{
		"canary nodes go first, although there are more slots": {
			rollout: canary(2), nodes: []on{{name: "a"}, {name: "b"}, {name: "c"}}, grants: []string{"a", "b"},
			says: ", 1 pending: 0 of 2 canary nodes done",
		},
		"a canary node that is not Ready yet leaves its place to the next": {
			rollout: canary(1), nodes: []on{{name: "a", notReady: true}, {name: "b"}, {name: "c"}}, grants: []string{"b"},
		},
		"while a canary node progresses nobody else begins": {
			rollout: canary(1), nodes: []on{begunOn("a"), {name: "b"}}, says: "0/2 nodes finished, 1 pending: 0 of 1 canary nodes done",
		},
		"once the canary nodes are configured, maxUnavailable counts": {
			rollout: canary(1), nodes: []on{configured("a", 0), {name: "b"}, {name: "c"}, {name: "d"}, {name: "e"}},
			grants: []string{"b", "c", "d"}, says: "Policy is progressing 1/5 nodes finished, 1 pending",
		},
		"more canary nodes than nodes are all of them": {
			rollout: canary(9), nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a", "b"},
		},
		"canary nodes keep to maxUnavailable": {
			rollout: canary(3), limit: 1, nodes: []on{{name: "a"}, {name: "b"}, {name: "c"}}, grants: []string{"a"},
		},
		"one failing canary node aborts the rest, whatever maxUnavailable is": {
			rollout: canary(2), nodes: []on{failedOn("a"), begunOn("b"), {name: "c"}, {name: "d"}}, aborts: []string{"c", "d"},
			says: "1/4 nodes failed to configure, 2 nodes aborted configuration",
		},
		"a node that fails after the canary nodes is one of maxUnavailable": {
			rollout: canary(1), nodes: []on{configured("a", 0), failedOn("b"), {name: "c"}}, grants: []string{"c"},
		},
		"a node that fails without having been granted is no canary": {
			rollout: canary(1), nodes: []on{not(failedOn("a"), func(o *on) { o.approved = 0 }), {name: "b"}, {name: "c"}}, grants: []string{"b"},
		},
		"a canary node that went away after it was configured holds the others up, by name": {
			rollout: canary(1), nodes: []on{not(configured("a", 0), away), {name: "b"}},
			says: "1 pending, 1 nodes ignored due to NotReady state: 0 of 1 canary nodes done (configured and not Ready: a)",
		},
		"when a canary node is deleted another one goes first": {
			rollout: canary(1), nodes: []on{not(configured("a", 0), func(o *on) { o.gone = true }), {name: "b"}, {name: "c"}}, grants: []string{"b"},
		},
		"it pauses after the canary nodes": {
			rollout: pausing, nodes: []on{configured("a", 0), {name: "b"}, {name: "c"}},
			says: "1/3 nodes finished, 2 pending: paused after 1 canary nodes; remove spec.rollout.pauseAfterCanary to go on",
		},
		"it does not pause before the canary nodes": {
			rollout: pausing, nodes: []on{{name: "a"}, {name: "b"}}, grants: []string{"a"},
		},
		"with nobody waiting there is no pause to speak of": {
			rollout: pausing, nodes: []on{configured("a", 0)}, says: "1/1 nodes successfully configured",
		},
		"an edit that lets it go on does not start over": {
			rollout: canary(1), nodes: []on{waitsWith("a", "old"), waitsWith("b", "new"), waitsWith("c", "new")}, grants: []string{"a=old", "b", "c"},
		},
		"before the others go, each node that has an older generation tells whether it has this one": {
			rollout: canary(1), nodes: []on{not(waitsWith("a", ""), func(o *on) { o.reported, o.shows = generation-1, showing(v1.EnactmentAvailable) }), {name: "b"}},
			says: "2 pending: 0 of 1 canary nodes done (not told yet what it changes there: a)",
		},
		"paused, nobody begins": {
			rollout: &v1.Rollout{Paused: true}, nodes: []on{begunOn("a"), {name: "b"}},
			says: "0/2 nodes finished, 1 pending: paused; remove spec.rollout.paused to go on",
		},
		"paused, a node on which an older generation is being applied is not granted either": {
			rollout: &v1.Rollout{Paused: true},
			nodes:   []on{{name: "a", approved: 2, reported: 2, shows: showing(v1.EnactmentProgressing)}},
		},
		"paused, what changes nothing is granted": {
			rollout: &v1.Rollout{Paused: true}, nodes: []on{waitsWith("a", "old"), waitsWith("b", "new")}, grants: []string{"a=old"},
		},
		"paused, too many failures abort all the same": {
			rollout: &v1.Rollout{Paused: true}, limit: 1, nodes: []on{failedOn("a"), {name: "b"}}, aborts: []string{"b"},
		},
		"a node that was configured just now keeps its slot while it soaks": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", 20*time.Second), {name: "b"}}, again: 40 * time.Second,
		},
		"a node that has soaked gives its slot to the next": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", time.Minute), {name: "b"}}, grants: []string{"b"},
		},
		"the one that has soaked first decides when to look again": {
			rollout: soaking, limit: 2, nodes: []on{configured("a", 20*time.Second), configured("b", 50*time.Second), {name: "c"}}, again: 10 * time.Second,
		},
		"a node whose clock is ahead soaks, at first for all of the time": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", -time.Hour), {name: "b"}}, again: time.Minute,
		},
		"a node whose clock is ahead soaks no longer than it should": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", -time.Hour), {name: "b"}}, seen: map[string]time.Duration{"a": time.Minute}, grants: []string{"b"},
		},
		"a node whose clock is behind soaks no less than it should": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", time.Hour), {name: "b"}}, seen: map[string]time.Duration{"a": 20 * time.Second}, again: 40 * time.Second,
		},
		"without the time of the commit it is that of the condition": {
			rollout: soaking, limit: 1, nodes: []on{not(configured("a", 0), func(o *on) { o.has = nil }), {name: "b"}}, grants: []string{"b"},
		},
		"nobody waits for the last nodes to soak": {
			rollout: soaking, limit: 1, nodes: []on{configured("a", 0)}, says: "1/1 nodes successfully configured",
		},
		"a canary node is done when it has soaked": {
			rollout: soakingCanary, nodes: []on{configured("a", 20*time.Second), {name: "b"}}, again: 40 * time.Second,
			says: "1 pending: 0 of 1 canary nodes done, which takes 60 s once configured",
		},
		"nodes on which an edit changes nothing need no slot": {
			limit: 1, nodes: []on{waitsWith("a", "old"), waitsWith("b", "new"), waitsWith("c", "old"), waitsWith("d", "new")},
			grants: []string{"a=old", "c=old", "b"}, says: "0/4 nodes finished, 1 pending",
		},
		"a node that was granted without a slot holds none": {
			limit: 1, nodes: []on{not(waitsWith("a", "old"), func(o *on) { o.approved, o.approvedHash = generation, "old" }), waitsWith("b", "new")},
			grants: []string{"b"},
		},
		"a grant without a slot is void once the node comes out as something else": {
			limit: 1, nodes: []on{not(waitsWith("a", "new"), func(o *on) { o.approved, o.approvedHash = generation, "old" }), begunOn("b")},
			says: "1 pending",
		},
		"a node that goes back to what it has, in the middle of something else, is still changing": {
			limit: 1, nodes: []on{
				not(waitsWith("a", "old"), func(o *on) { o.approved, o.shows = generation, showing(v1.EnactmentProgressing) }), waitsWith("b", "new"),
			},
		},
		"aborted nodes on which the generation changes nothing are no part of it": {
			limit: 1, nodes: []on{failedOn("a"), not(waitsWith("b", "old"), func(o *on) { o.aborted = generation }), waitsWith("c", "new")},
			grants: []string{"b=old"}, aborts: []string{"c"},
		},
		"a node that has an older generation is asked what the new one changes before it gets a slot": {
			limit: 1, nodes: []on{not(waitsWith("a", ""), func(o *on) { o.reported, o.shows = generation-1, showing(v1.EnactmentAvailable) }), {name: "b"}},
			grants: []string{"b"},
		},
		"a node whose variable changed waits for a slot like any other": {
			limit: 1, nodes: []on{begunOn("a"), wantsAgainOn("b", "", v1.EnactmentPending)}, says: "0/2 nodes finished, 1 pending",
		},
		"and is granted that rendering only": {
			limit: 1, nodes: []on{configured("a", 0), wantsAgainOn("b", "", v1.EnactmentPending)}, grants: []string{"b=changed"},
		},
		"it is no longer Available, whatever it still shows": {
			rollout: &v1.Rollout{Paused: true}, nodes: []on{configured("a", 0), wantsAgainOn("b", "", v1.EnactmentAvailable)}, says: "1/2 nodes finished, 1 pending",
		},
		"once granted it holds the slot": {
			limit: 1, nodes: []on{wantsAgainOn("a", "changed", v1.EnactmentPending), wantsAgainOn("b", "", v1.EnactmentPending)},
		},
		"a variable that changes again while the node is changing keeps its slot and is granted first": {
			limit: 1, nodes: []on{wantsAgainOn("a", "", v1.EnactmentPending), wantsAgainOn("b", "before", v1.EnactmentProgressing)}, grants: []string{"b=changed"},
		},
		"variables that change on all nodes go to the canary nodes first": {
			rollout: canary(1), nodes: []on{wantsAgainOn("a", "", v1.EnactmentPending), wantsAgainOn("b", "", v1.EnactmentPending)}, grants: []string{"a=changed"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			if test.limit == 0 {
				test.limit = 3
			}
			in := inputOf(intstr.FromInt32(test.limit), test.nodes)
			in.Now, in.Policy.Spec.Rollout, in.Configured = noon, test.rollout, test.seen
			out := decided(t, in)
			var grants []string
			for _, name := range out.Grants {
				if hash := out.Hashes[name]; hash != "" {
					name += "=" + hash
				}
				grants = append(grants, name)
			}
			if diff := cmp.Diff([][]string{test.grants, test.aborts}, [][]string{grants, out.Aborts}); diff != "" {
				t.Errorf("grants, aborts (-want +got):\n%s\n%s", diff, strings.Join(out.Notes, "\n"))
			}
			if out.RequeueAfter != test.again {
				t.Errorf("planned again after %v, want %v", out.RequeueAfter, test.again)
			}
			if said := strings.Join(render(out.Status), "\n"); !strings.Contains(said, test.says) {
				t.Errorf("want %q in\n%s", test.says, said)
			}
		})
	}
}

func TestAPausedPolicySaysSoInItsConditions(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{{name: "a"}})
	in.Policy.Spec.Rollout = &v1.Rollout{Paused: true}
	const message = "Policy is progressing 0/1 nodes finished, 1 pending: paused; remove spec.rollout.paused to go on"
	want := []string{
		"Degraded=Unknown ConfigurationProgressing", "Available=Unknown ConfigurationProgressing",
		"Progressing=True ConfigurationProgressing: " + message, "Ignored=False ConfigurationProgressing",
		"Reconciling=True RolloutPaused: " + message,
	}
	if diff := cmp.Diff(want, render(decided(t, in).Status)); diff != "" {
		t.Error(diff)
	}
}

// A transition of one of our conditions to False takes it away, which is news.
func TestAConditionThatIsNoLongerTrueGoes(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{begunOn("a")})
	in.Policy.Status = decided(t, in).Status
	in.Enactments[0] = configured("a", 0).enactment()
	out := decided(t, in)
	if v1.FindCondition(out.Status.Conditions, v1.Reconciling) != nil || !out.StatusUrgent {
		t.Errorf("urgent %v: %q", out.StatusUrgent, render(out.Status))
	}
}

// The cost of a plan is counted in allocations, which are the same on every
// machine: ten times the nodes may cost ten times as much and no more.
func TestThePlanOfTenTimesTheNodesCostsTenTimesAsMuch(t *testing.T) {
	cost := func(nodes int) float64 {
		in := largeInput(nodes, &v1.Rollout{Canary: new(int32(5)), SoakSeconds: 60})
		return testing.AllocsPerRun(3, func() { Make(in) })
	}
	small, large := cost(500), cost(5000)
	if large > 11*small {
		t.Errorf("500 nodes: %.0f allocations, 5000 nodes: %.0f", small, large)
	}
}

// largeInput is a policy in the middle of its rollout: a third is configured,
// two fifths are changing, and the others wait.
func largeInput(count int, rollout *v1.Rollout) Input {
	nodes := make([]on, count)
	for i := range nodes {
		name := fmt.Sprintf("node%05d", (i*7919)%count)
		switch {
		case i < count*3/10:
			nodes[i] = configured(name, time.Duration(i%4)*30*time.Second)
		case i < count*7/10:
			nodes[i] = begunOn(name)
		default:
			nodes[i] = waitsWith(name, []string{"old", "new"}[i%2])
		}
	}
	in := inputOf(intstr.FromString("50%"), nodes)
	in.Now, in.Policy.Spec.Rollout = noon, rollout
	return in
}

func BenchmarkPlan(b *testing.B) {
	canary := &v1.Rollout{Canary: new(int32(5)), SoakSeconds: 60}
	for _, count := range []int{500, 5000} {
		in := largeInput(count, canary)
		reviewed := largeInput(count, nil)
		reviewed.Policy.Spec.Mode = modePlan
		for i := range reviewed.Enactments {
			reviewed.Enactments[i] = planOf(reviewed.Nodes[i].Name, fmt.Sprint("plan", i%200), v1.DisruptionLinkFlap).enactment()
		}
		for name, in := range map[string]Input{"apply": in, "plan only": reviewed} {
			b.Run(fmt.Sprintf("%d nodes, %s", count, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if out := Make(in); len(out.Notes) == 0 {
						b.Fatal("it decided nothing")
					}
				}
			})
		}
	}
}

package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestNodesThatCannotAnswerKeepNobodyWaiting(t *testing.T) {
	const long, available, progressing = time.Hour, v1.EnactmentAvailable, v1.EnactmentProgressing
	done := func(name string) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(available)}
	}
	dead := func(name string, since time.Duration) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(progressing), notReady: true, changed: since}
	}
	silent := func(name string, since time.Duration) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(progressing), silent: since}
	}
	never := on{name: "z", bare: true, unreported: true, joined: long}
	tests := map[string]struct {
		limit          intstr.IntOrString
		rollout        *v1.Rollout
		fresh, made    time.Duration
		nodes          []on
		grants, aborts []string
		message        string
		again          time.Duration
	}{
		"a node without a handler is not managed": {
			nodes: []on{done("a"), never}, message: "1/2 nodes successfully configured, 1 not managed",
		},
		"a node that has just joined gets the time for its handler": {
			nodes:   []on{done("a"), {name: "b", bare: true, unreported: true, joined: 4 * time.Minute}},
			message: "Policy is progressing 1/2 nodes finished, 1 pending", again: 6 * time.Minute,
		},
		"so does one of a cluster into which handlers came just now": {
			fresh: 9 * time.Minute, nodes: []on{done("a"), never},
			message: "Policy is progressing 1/2 nodes finished, 1 pending", again: time.Minute,
		},
		"and one of a cluster into which none has come yet": {
			fresh: -1, nodes: []on{never}, message: "Policy is progressing 0/1 nodes finished, 1 pending",
		},
		"a node without a handler that is not Ready is told as that": {
			nodes:   []on{done("a"), {name: "b", bare: true, unreported: true, joined: long, notReady: true}},
			message: "1/2 nodes successfully configured, 1 nodes ignored due to NotReady state",
		},
		"an enactment that others made for a node without a handler is not granted": {
			nodes:   []on{done("a"), {name: "b", unreported: true}},
			message: "Policy is progressing 1/2 nodes finished, 1 pending", again: 10 * time.Minute,
		},
		"a node that is set aside counts as not managed, too, and is not granted": {
			nodes:   []on{done("a"), {name: "b", reported: generation, setAside: true}},
			message: "1/2 nodes successfully configured, 1 not managed",
		},
		"one that was configured before stays so": {
			nodes:   []on{done("a"), {name: "b", unreported: true, joined: long, approved: generation, reported: generation, shows: showing(available)}},
			message: "2/2 nodes successfully configured",
		},
		"with no other node that matches there is none that is managed": {
			nodes: []on{never}, message: "Policy does not match any node that is managed, 1 not managed",
		},
		"a share is of the nodes that are managed": {
			limit: intstr.FromString("50%"), nodes: []on{{name: "a"}, {name: "b"}, never, {name: "y", bare: true, unreported: true, joined: long}},
			grants: []string{"a"}, message: "Policy is progressing 0/2 nodes finished, 1 pending, 2 not managed",
		},
		"a canary stage does not wait for them": {
			rollout: &v1.Rollout{Canary: new(int32(2))}, nodes: []on{done("a"), {name: "b"}, never},
			grants: []string{"b"}, message: "Policy is progressing 1/2 nodes finished, 1 not managed",
		},
		"they are not aborted": {
			nodes:  []on{{name: "a", approved: generation, reported: generation, shows: showing(v1.EnactmentFailing)}, {name: "b"}, {name: "c", reported: generation, setAside: true}},
			aborts: []string{"b"}, message: "1/3 nodes failed to configure, 1 nodes aborted configuration",
		},
		"a node that has not been Ready for a moment keeps its slot": {
			nodes: []on{dead("a", time.Minute), {name: "b"}}, message: "Policy is progressing 0/2 nodes finished, 1 pending", again: 9 * time.Minute,
		},
		"one that died gives it back": {
			nodes: []on{dead("a", long), {name: "b"}}, grants: []string{"b"},
			message: "Policy is progressing 0/1 nodes finished, 1 nodes ignored due to NotReady state",
		},
		"and is left out in the end": {
			nodes: []on{dead("a", long), done("b")}, message: "1/2 nodes successfully configured, 1 nodes ignored due to NotReady state",
		},
		"two that died stop it": {
			nodes: []on{dead("a", long), dead("b", long), {name: "c"}}, aborts: []string{"c"},
			message: "0/3 nodes failed to configure, 1 nodes aborted configuration",
		},
		"of two that died where three may be changing, one keeps its slot": {
			limit: intstr.FromInt32(3), nodes: []on{dead("a", long), dead("b", long), {name: "c"}, {name: "d"}, {name: "e"}}, grants: []string{"c", "d"},
			message: "Policy is progressing 0/3 nodes finished, 1 pending, 2 nodes ignored due to NotReady state",
		},
		"one that died counts as one that fails, beside one that does": {
			limit:  intstr.FromInt32(2),
			nodes:  []on{dead("a", long), {name: "b", approved: generation, reported: generation, shows: showing(v1.EnactmentFailing)}, {name: "c"}},
			aborts: []string{"c"}, message: "1/3 nodes failed to configure, 1 nodes aborted configuration",
		},
		"a canary node that died stops it": {
			rollout: &v1.Rollout{Canary: new(int32(1))}, nodes: []on{dead("a", long), {name: "b"}}, aborts: []string{"b"},
			message: "0/2 nodes failed to configure, 1 nodes aborted configuration",
		},
		"a Ready node whose handler died is not managed after the grace": {
			nodes: []on{done("a"), {name: "b", silent: long}}, message: "1/2 nodes successfully configured, 1 not managed",
		},
		"one whose handler restarts is waited for, and gets its turn": {
			nodes: []on{done("a"), {name: "b", silent: time.Minute}}, grants: []string{"b"},
			message: "Policy is progressing 1/2 nodes finished", again: 9 * time.Minute,
		},
		"one that was configured before its handler died stays so": {
			nodes: []on{{name: "a", approved: generation, reported: generation, shows: showing(available), silent: long}}, message: "1/1 nodes successfully configured",
		},
		"one on which the policy failed before its handler died stays so": {
			nodes:   []on{{name: "a", approved: generation, reported: generation, shows: showing(v1.EnactmentFailing), silent: long}, done("b")},
			message: "1/2 nodes failed to configure",
		},
		"a Ready node whose handler died in the middle of the change keeps its slot for the grace": {
			nodes: []on{silent("a", time.Minute), {name: "b"}}, message: "Policy is progressing 0/2 nodes finished, 1 pending", again: 9 * time.Minute,
		},
		"and gives it back then, as a machine that died": {
			nodes: []on{silent("a", long), {name: "b"}}, grants: []string{"b"}, message: "Policy is progressing 0/1 nodes finished, 1 not managed",
		},
		"two of them stop the rollout": {
			nodes: []on{silent("a", long), silent("b", long), {name: "c"}}, aborts: []string{"c"},
			message: "0/3 nodes failed to configure, 1 nodes aborted configuration",
		},
		"a machine and the handler of another one stop it as well": {
			nodes: []on{silent("a", long), dead("b", long), {name: "c"}}, aborts: []string{"c"},
			message: "0/3 nodes failed to configure, 1 nodes aborted configuration",
		},
		"a share is of these nodes too": {
			limit: intstr.FromString("50%"), nodes: []on{silent("a", long), {name: "b"}, {name: "c"}, {name: "d"}}, grants: []string{"b", "c"},
			message: "Policy is progressing 0/3 nodes finished, 1 pending, 1 not managed",
		},
		"a node that left before its handler died counts from when it left": {
			nodes:  []on{{name: "a", approved: generation, reported: generation, shows: showing(progressing), notReady: true, changed: long, silent: time.Minute}, {name: "b"}},
			grants: []string{"b"}, message: "Policy is progressing 0/1 nodes finished, 1 nodes ignored due to NotReady state",
		},
		"one whose handler died while it was changing for an older generation stands in nobody's way": {
			nodes: []on{{name: "a", approved: 2, reported: 2, shows: showing(progressing), silent: long}, {name: "b"}}, grants: []string{"b"},
			message: "Policy is progressing 0/1 nodes finished, 1 not managed",
		},
		"what a node tells of a deleted policy of the same name keeps a slot while it may still be so": {
			nodes: []on{{name: "a", owner: "another", approved: 9, reported: 9, shows: showing(progressing)}, {name: "b", owner: "this"}}, made: 30 * time.Minute,
			message: "Policy is progressing 0/2 nodes finished, 2 pending", again: 10 * time.Minute,
		},
		"and none after that": {
			nodes: []on{{name: "a", owner: "another", approved: 9, reported: 9, shows: showing(progressing)}, {name: "b", owner: "this"}}, made: 40 * time.Minute,
			grants: []string{"b"}, message: "Policy is progressing 0/2 nodes finished, 1 pending",
		},
		"one that died while it was changing for an older generation stands in nobody's way": {
			nodes: []on{{name: "a", approved: 2, reported: 2, shows: showing(progressing), notReady: true, changed: long}, {name: "b"}}, grants: []string{"b"},
			message: "Policy is progressing 0/1 nodes finished, 1 nodes ignored due to NotReady state",
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			if test.limit == (intstr.IntOrString{}) {
				test.limit = intstr.FromInt32(1)
			}
			in := inputOf(test.limit, test.nodes)
			if test.made > 0 {
				in.Policy.CreationTimestamp = metav1.NewTime(in.Now.Add(-test.made))
			}
			in.Policy.Spec.Rollout = test.rollout
			switch {
			case test.fresh < 0:
				in.Installed = time.Time{}
			case test.fresh > 0:
				in.Installed = in.Now.Add(-test.fresh)
			}
			out := decided(t, in)
			if diff := cmp.Diff([][]string{test.grants, test.aborts}, [][]string{out.Grants, out.Aborts}); diff != "" {
				t.Errorf("grants, aborts (-want +got):\n%s", diff)
			}
			if got := said(out.Status); got != test.message {
				t.Errorf("it says %q, want %q", got, test.message)
			}
			if out.RequeueAfter != test.again {
				t.Errorf("again in %v, want %v", out.RequeueAfter, test.again)
			}
		})
	}
}

// said is the message on the older project's condition that is True.
func said(status v1.NodeNetworkConfigurationPolicyStatus) string {
	for _, c := range status.Conditions {
		if c.Status == yes {
			return c.Message
		}
	}
	return ""
}

func TestAPolicyWithALongProbeWindowWaitsLonger(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{
		{name: "a", approved: generation, notReady: true, changed: 20 * time.Minute}, {name: "b"},
	})
	in.Policy.Spec.ProbeTimeoutSeconds = new(int32(1800))
	if out := decided(t, in); len(out.Grants) > 0 || out.RequeueAfter != 20*time.Minute {
		t.Errorf("granted %q, again in %v; the change may still be on trial", out.Grants, out.RequeueAfter)
	}
}

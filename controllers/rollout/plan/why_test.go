package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// why is what kubectl get shows of a policy, and what tools that wait read.
type why struct {
	nodes, message string
	// ours is kstatus's condition and its reason.
	ours string
}

func whyOf(status v1.NodeNetworkConfigurationPolicyStatus) why {
	w := why{nodes: status.Nodes, message: status.Message}
	for _, c := range status.Conditions {
		if c.Type == v1.Reconciling || c.Type == v1.Stalled {
			w.ours = string(c.Type) + " " + string(c.Reason)
		}
	}
	return w
}

// failsOn is a node on which the policy fails, with the message and the next attempt.
func failsOn(name, message string, retry *v1.EnactmentRetry) v1.NodeNetworkConfigurationEnactment {
	e := on{name: name, approved: generation, reported: generation, retry: retry}.enactment()
	e.Status.Conditions = []v1.Condition{{Type: v1.EnactmentFailing, Status: metav1.ConditionTrue, Message: message}}
	return e
}

func TestAPolicySaysWhy(t *testing.T) {
	at := func(name string, shows v1.ConditionType) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(shows)}
	}
	again := &v1.EnactmentRetry{Attempts: 1, After: new(metav1.NewTime(noon.Add(time.Second)))}
	overdue := &v1.EnactmentRetry{Attempts: 1, After: &noon}
	for sentence, c := range map[string]struct {
		nodes    []on
		rollout  *v1.Rollout
		failures []v1.NodeNetworkConfigurationEnactment
		want     why
	}{
		"configured everywhere, nothing is to be said": {
			nodes: []on{at("a", v1.EnactmentAvailable), at("b", v1.EnactmentAvailable)}, want: why{nodes: "2/2"},
		},
		"the first failing node and its cause, without the number of the attempt": {
			nodes:    []on{at("a", v1.EnactmentAvailable), {name: "b"}, {name: "c"}},
			failures: []v1.NodeNetworkConfigurationEnactment{failsOn("c", "a probe was lost", nil), failsOn("b", "applying: no such port Retrying 1/5", again)},
			want:     why{"1/3", "b: applying: no such port", "Stalled FailedToConfigure"},
		},
		"while every failing node tries again it is not at its end": {
			nodes:    []on{at("a", v1.EnactmentAvailable), {name: "b"}},
			failures: []v1.NodeNetworkConfigurationEnactment{failsOn("b", "applying: no such port Retrying 1/5", again)},
			want:     why{"1/2", "b: applying: no such port", "Reconciling Retrying"},
		},
		"a try whose time is over and that does not begin is kept back by something else, as by a conflict": {
			nodes:    []on{at("a", v1.EnactmentAvailable), {name: "b"}},
			failures: []v1.NodeNetworkConfigurationEnactment{failsOn("b", "policy p conflicts with policy q", overdue)},
			want:     why{"1/2", "b: policy p conflicts with policy q", "Stalled FailedToConfigure"},
		},
		"waiting for a slot needs no words": {
			nodes: []on{at("a", v1.EnactmentProgressing), {name: "b"}}, want: why{"0/2", "", "Reconciling ConfigurationProgressing"},
		},
		"waiting for a canary is not waiting for a slot": {
			nodes: []on{at("a", v1.EnactmentProgressing), {name: "b"}, {name: "c"}}, rollout: &v1.Rollout{Canary: new(int32(1))},
			want: why{"0/3", "0 of 1 canary nodes done", "Reconciling WaitingForCanary"},
		},
		"waiting for a person": {
			nodes: []on{{name: "a"}}, rollout: &v1.Rollout{Paused: true},
			want: why{"0/1", "paused; remove spec.rollout.paused to go on", "Reconciling RolloutPaused"},
		},
		"waiting for what is configured to stay so": {
			nodes: []on{configured("a", time.Second), {name: "b"}}, rollout: &v1.Rollout{SoakSeconds: 60},
			want: why{"1/2", "a configured, for less than 60 s", "Reconciling Soaking"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(intstr.FromInt32(1), c.nodes)
			in.Now, in.Policy.Spec.Rollout = noon, c.rollout
			for _, failure := range c.failures {
				for i := range in.Enactments {
					if in.Enactments[i].Name == failure.Name {
						in.Enactments[i] = failure
					}
				}
			}
			if diff := cmp.Diff(c.want, whyOf(decided(t, in).Status), cmp.AllowUnexported(why{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhoIsAbortedIsToldWhoFailed(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{{name: "a"}, {name: "b"}})
	in.Enactments[0] = failsOn("a", "a probe was lost", nil)
	if out := decided(t, in); !cmp.Equal(out.Aborts, []string{"b"}) || out.AbortedCause != "a: a probe was lost" {
		t.Errorf("aborted %v for %q", out.Aborts, out.AbortedCause)
	}
}

func TestAPolicyThatAsksNothingSaysSo(t *testing.T) {
	for sentence, c := range map[string]struct {
		desired string
		match   []v1.InterfaceRule
		matched []string
		want    string
	}{
		"no desired state":                      {"", nil, nil, "1/1 nodes successfully configured, and the policy asks nothing of them: spec.desiredState is empty"},
		"a desired state of empty lists":        {`{"interfaces": [], "routes": {}}`, nil, nil, "1/1 nodes successfully configured, and the policy asks nothing of them: spec.desiredState is empty"},
		"a match that finds nothing":            {`{"interfaces":[{"type":"ethernet"}]}`, []v1.InterfaceRule{{}}, nil, "1/1 nodes successfully configured, 1 of them without an interface that spec.match selects"},
		"a match that finds two":                {`{"interfaces":[{"type":"ethernet"}]}`, []v1.InterfaceRule{{}}, []string{"eth1", "eth2"}, "1/1 nodes successfully configured"},
		"a desired state with something in it":  {`{"interfaces":[{"name":"eth1"}]}`, nil, nil, "1/1 nodes successfully configured"},
		"a desired state that cannot be parsed": {`[]`, nil, nil, "1/1 nodes successfully configured"},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(intstr.FromInt32(1), []on{{name: "a", approved: generation, reported: generation, shows: showing(v1.EnactmentAvailable)}})
			in.Enactments[0].Status.MatchedInterfaces = c.matched
			in.Policy.Spec.DesiredState, in.Policy.Spec.Match = v1.State{}, c.match
			if c.desired != "" {
				in.Policy.Spec.DesiredState = v1.NewState([]byte(c.desired))
			}
			if got := v1.FindCondition(decided(t, in).Status.Conditions, v1.PolicyAvailable).Message; got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

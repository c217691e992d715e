package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// render gives the conditions as the rows of the table of the API contract:
// type=status reason, and the message of the one that is True.
func render(status v1.NodeNetworkConfigurationPolicyStatus) []string {
	var lines []string
	for _, c := range status.Conditions {
		line := string(c.Type) + "=" + string(c.Status) + " " + string(c.Reason)
		if c.Message != "" {
			line += ": " + c.Message
		}
		lines = append(lines, line)
	}
	return lines
}

func TestPlanTellsTheStatus(t *testing.T) {
	const current, old = generation, generation - 1
	at := func(name string, reported int64, shows ...v1.ConditionType) on {
		return on{name: name, approved: reported, reported: reported, shows: shows}
	}
	progressingRow := func(message string) []string {
		return []string{
			"Degraded=Unknown ConfigurationProgressing", "Available=Unknown ConfigurationProgressing",
			"Progressing=True ConfigurationProgressing: " + message, "Ignored=False ConfigurationProgressing",
			"Reconciling=True ConfigurationProgressing: " + message,
		}
	}
	successRow := func(message string) []string {
		return []string{
			"Degraded=False SuccessfullyConfigured", "Available=True SuccessfullyConfigured: " + message,
			"Progressing=False SuccessfullyConfigured", "Ignored=False SuccessfullyConfigured",
		}
	}
	failedRow := func(message string) []string {
		return []string{
			"Degraded=True FailedToConfigure: " + message, "Available=False FailedToConfigure",
			"Progressing=False ConfigurationProgressing", "Ignored=False FailedToConfigure",
			"Stalled=True FailedToConfigure: " + message,
		}
	}
	available, failing, progressing := v1.EnactmentAvailable, v1.EnactmentFailing, v1.EnactmentProgressing
	tests := map[string]struct {
		limit  string
		nodes  []on
		want   []string
		counts v1.PolicyCounts
	}{
		"progressing": {
			nodes: []on{at("a", current, available), at("b", current, progressing)}, want: progressingRow("Policy is progressing 1/2 nodes finished"),
			counts: v1.PolicyCounts{Matched: 2, Available: 1, Progressing: 1},
		},
		"progressing, and some wait": {
			nodes: []on{at("a", current, available), at("b", current, progressing), {name: "c"}, {name: "d", bare: true}},
			limit: "25%", want: progressingRow("Policy is progressing 1/4 nodes finished, 2 pending"),
			counts: v1.PolicyCounts{Matched: 4, Available: 1, Progressing: 1, Pending: 2},
		},
		"progressing, and some are not Ready": {
			nodes: []on{at("b", current, progressing), {name: "c", notReady: true}},
			want:  progressingRow("Policy is progressing 0/1 nodes finished, 1 nodes ignored due to NotReady state"),
			counts: v1.PolicyCounts{
				Matched: 1, Progressing: 1, NotReady: 1,
			},
		},
		"a node that has begun and is not Ready is waited for": {
			nodes: []on{at("a", current, available), {name: "b", notReady: true, approved: current, reported: current, shows: showing(progressing)}},
			want:  progressingRow("Policy is progressing 1/2 nodes finished"), counts: v1.PolicyCounts{Matched: 2, Available: 1, Progressing: 1},
		},
		"no node is Ready and none was ever configured": {
			nodes: []on{{name: "a", notReady: true}}, want: progressingRow("Policy is progressing 0/0 nodes finished, 1 nodes ignored due to NotReady state"),
			counts: v1.PolicyCounts{NotReady: 1},
		},
		"an outcome of an older generation does not count": {
			nodes: []on{at("a", old, available), at("b", old, failing)}, want: progressingRow("Policy is progressing 0/2 nodes finished, 1 pending"),
			counts: v1.PolicyCounts{Matched: 2, Progressing: 1, Pending: 1},
		},
		"success": {
			nodes: []on{at("a", current, available), at("b", current, available)}, want: successRow("2/2 nodes successfully configured"),
			counts: v1.PolicyCounts{Matched: 2, Available: 2},
		},
		"success, and some are not Ready": {
			nodes:  []on{at("a", current, available), {name: "b", notReady: true}},
			want:   successRow("1/2 nodes successfully configured, 1 nodes ignored due to NotReady state"),
			counts: v1.PolicyCounts{Matched: 1, Available: 1, NotReady: 1},
		},
		"one failing node is enough for failed": {
			nodes: []on{at("a", current, failing), at("b", current, progressing), at("c", current, available)},
			want:  failedRow("1/3 nodes failed to configure"), counts: v1.PolicyCounts{Matched: 3, Available: 1, Progressing: 1, Failing: 1},
		},
		"failed, and the rest is aborted": {
			nodes: []on{at("a", current, failing), {name: "b"}, {name: "c"}},
			limit: "1%", want: failedRow("1/3 nodes failed to configure, 2 nodes aborted configuration"),
			counts: v1.PolicyCounts{Matched: 3, Failing: 1, Aborted: 2},
		},
		"a failing node counts although it is not Ready": {
			nodes: []on{{name: "a", notReady: true, approved: current, reported: current, shows: showing(failing)}, at("b", current, available)},
			want:  failedRow("1/2 nodes failed to configure"), counts: v1.PolicyCounts{Matched: 2, Available: 1, Failing: 1},
		},
		"no node matches": {
			nodes: []on{{name: "a", elsewhere: true, bare: true}},
			want: []string{
				"Degraded=False NoMatchingNode", "Available=False NoMatchingNode", "Progressing=False NoMatchingNode",
				"Ignored=True NoMatchingNode: Policy does not match any node",
			},
		},
		"what maxUnavailable counts as is told where it says something else": {
			nodes: []on{at("a", current, failing), {name: "b"}}, limit: "0%",
			want:   failedRow("1/2 nodes failed to configure, 1 nodes aborted configuration, maxUnavailable 0% counts as 1"),
			counts: v1.PolicyCounts{Matched: 2, Failing: 1, Aborted: 1},
		},
		"also of a number in quotes": {
			nodes: []on{at("a", current, failing), {name: "b"}}, limit: "1",
			want:   failedRow(`1/2 nodes failed to configure, 1 nodes aborted configuration, maxUnavailable "1" counts as 1`),
			counts: v1.PolicyCounts{Matched: 2, Failing: 1, Aborted: 1},
		},
		"a bad maxUnavailable is named": {
			nodes: []on{{name: "a"}}, limit: "none",
			want:   failedRow(`spec.maxUnavailable: "none" must be a whole number or a percentage, such as 3 or "30%"`),
			counts: v1.PolicyCounts{Matched: 1, Pending: 1},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			limit := intstr.FromString("50%")
			if test.limit != "" {
				limit = intstr.FromString(test.limit)
			}
			out := decided(t, inputOf(limit, test.nodes))
			if diff := cmp.Diff(test.want, render(out.Status)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.counts, out.Status.Counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if out.Status.ObservedGeneration != generation || !out.StatusChanged || !out.StatusUrgent {
				t.Errorf("observed %d, changed %v, urgent %v", out.Status.ObservedGeneration, out.StatusChanged, out.StatusUrgent)
			}
		})
	}
}

func TestAPolicyThatCannotSelectNodesIsRefusedWithTheReason(t *testing.T) {
	in := inputOf(intstr.FromString("50%"), nil)
	in.Refused = "spec.affinity.nodeAffinity: " + strings.Repeat("é", 1000)
	out := decided(t, in)
	message := out.Status.Conditions[0].Message
	if len(message) > 1024 || !strings.HasPrefix(message, "spec.affinity") || !strings.HasSuffix(message, "é...") {
		t.Errorf("message of %d bytes: %q", len(message), message)
	}
	if out.Warning.Reason != "ReconcileFailed" {
		t.Errorf("warning: %+v", out.Warning)
	}
	in.Policy.Status = out.Status
	if again := decided(t, in); again.StatusChanged || again.Warning != (Warning{}) {
		t.Errorf("it is said again: %+v", again)
	}
}

func TestTimesOfConditionsMoveOnlyWithWhatTheyAreAbout(t *testing.T) {
	in := inputOf(intstr.FromInt32(1), []on{{name: "a"}, {name: "b"}})
	begin := in.Now
	in.Policy.Status = decided(t, in).Status

	in.Now = metav1.NewTime(begin.Add(time.Minute))
	out := decided(t, in)
	if out.StatusChanged || out.StatusUrgent || !cmp.Equal(out.Status, in.Policy.Status) {
		t.Fatalf("nothing happened, yet the status moves: %s", cmp.Diff(in.Policy.Status, out.Status))
	}

	in.Enactments[0] = on{name: "a", approved: generation, reported: generation, shows: showing(v1.EnactmentAvailable)}.enactment()
	out = decided(t, in)
	if !out.StatusChanged || out.StatusUrgent {
		t.Fatalf("only numbers moved: changed %v, urgent %v", out.StatusChanged, out.StatusUrgent)
	}
	if c := out.Status.Conditions[2]; c.LastTransitionTime != begin || c.LastHeartbeatTime != in.Now {
		t.Errorf("Progressing stays True: transition %v, heartbeat %v", c.LastTransitionTime, c.LastHeartbeatTime)
	}

	in.Policy.Status = out.Status
	in.Enactments[1] = on{name: "b", approved: generation, reported: generation, shows: showing(v1.EnactmentAvailable)}.enactment()
	in.Now = metav1.NewTime(begin.Add(2 * time.Minute))
	out = decided(t, in)
	if !out.StatusUrgent {
		t.Error("Available turned True, and nobody is told at once")
	}
	for _, c := range out.Status.Conditions {
		moved := c.Type != v1.PolicyIgnored
		if (c.LastTransitionTime == in.Now) != moved {
			t.Errorf("%s=%s: transition %v", c.Type, c.Status, c.LastTransitionTime)
		}
	}
}

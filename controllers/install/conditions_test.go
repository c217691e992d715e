package install

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestHowAnInstallationFares(t *testing.T) {
	ready := appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberAvailable: 3}
	leads := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1, Conditions: []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
	}}
	for sentence, c := range map[string]struct {
		change func(h *appsv1.DaemonSetStatus, c *appsv1.DeploymentStatus)
		want   string
	}{
		"everything is there": {
			func(*appsv1.DaemonSetStatus, *appsv1.DeploymentStatus) {}, "SuccessfullyDeployed: the handler is ready on 3 nodes",
		},
		"the change is not seen yet": {
			func(h *appsv1.DaemonSetStatus, c *appsv1.DeploymentStatus) {
				h.ObservedGeneration, c.ObservedGeneration = 1, 1
			},
			"Deploying: the DaemonSet nmstate-handler is being taken up; the Deployment nmstate-controllers is being taken up",
		},
		"an update goes over the nodes": {
			func(h *appsv1.DaemonSetStatus, _ *appsv1.DeploymentStatus) { h.UpdatedNumberScheduled = 1 },
			"Deploying: the handler is updated on 1 of 3 nodes",
		},
		"a pod is not ready": {
			func(h *appsv1.DaemonSetStatus, _ *appsv1.DeploymentStatus) { h.NumberAvailable = 2 },
			"Deploying: the handler is ready on 2 of 3 nodes",
		},
		"the controllers are replaced": {
			func(_ *appsv1.DaemonSetStatus, c *appsv1.DeploymentStatus) { c.Replicas = 3 },
			"Deploying: 2 of 2 controllers are updated",
		},
		"no controllers are ready": {
			func(_ *appsv1.DaemonSetStatus, c *appsv1.DeploymentStatus) {
				c.AvailableReplicas, c.Conditions = 0, nil
			},
			"Deploying: 0 of 2 controllers are ready",
		},
		"no node is selected": {
			func(h *appsv1.DaemonSetStatus, _ *appsv1.DeploymentStatus) {
				*h = appsv1.DaemonSetStatus{ObservedGeneration: 2}
			}, "SuccessfullyDeployed: the handler is ready on 0 nodes",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			two := int32(2)
			handler := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "nmstate-handler", Generation: 2}, Status: ready}
			controllers := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "nmstate-controllers", Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: &two}, Status: leads}
			c.change(&handler.Status, &controllers.Status)
			verdict := Fares(handler, controllers)
			if got := fmt.Sprintf("%s: %s", verdict.Reason, verdict.Message); got != c.want {
				t.Errorf("want %s\ngot  %s", c.want, got)
			}
		})
	}
}

func TestWhatAnNMStateTells(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	deploying := Verdict{Reason: ReasonDeploying, Message: "the handler is ready on 2 of 3 nodes"}
	object := &v1.NMState{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	for _, step := range []struct {
		sentence string
		verdict  Verdict
		at       time.Duration
		want     string
		after    time.Duration
	}{
		{"at first it is deployed", deploying, 0, "Available=False Deploying, Progressing=True Deploying, Degraded=False Deploying", patience},
		{"a minute later it still may", deploying, time.Minute, "Available=False Deploying, Progressing=True Deploying, Degraded=False Deploying", patience - time.Minute},
		{"then it takes too long", deploying, patience, "Available=False Deploying, Progressing=True Deploying, Degraded=True NotReady", 0},
		{"in the end it is there", Verdict{Reason: ReasonDeployed}, time.Hour, "Available=True SuccessfullyDeployed, Progressing=False SuccessfullyDeployed, Degraded=False SuccessfullyDeployed", 0},
		{"an update has its own time", deploying, 2 * time.Hour, "Available=False Deploying, Progressing=True Deploying, Degraded=False Deploying", patience},
		{"what cannot be applied", Verdict{Reason: ReasonApplyFailed, Message: "no"}, 3 * time.Hour, "Available=False ApplyManifestError, Progressing=False ApplyManifestError, Degraded=True ApplyManifestError", 0},
	} {
		var after time.Duration
		object.Status, after = Status(object, step.verdict, begun.Add(step.at))
		var got []string
		for _, c := range object.Status.Conditions {
			got = append(got, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
		}
		if difference := cmp.Diff(step.want, strings.Join(got, ", ")); difference != "" || after != step.after {
			t.Errorf("%s: again after %s, want %s (-want +got):\n%s", step.sentence, after, step.after, difference)
		}
	}
}

func TestTheSameAnswerIsNotWrittenAgain(t *testing.T) {
	object := &v1.NMState{}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	object.Status, _ = Status(object, Verdict{Reason: ReasonDeployed}, now)
	again, _ := Status(object, Verdict{Reason: ReasonDeployed}, now.Add(time.Hour))
	if difference := cmp.Diff(object.Status, again); difference != "" {
		t.Errorf("an hour later (-before +after):\n%s", difference)
	}
}

func TestTheOldestNMStateCounts(t *testing.T) {
	at := func(name string, minute int, deleted bool) v1.NMState {
		o := v1.NMState{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)}}
		if deleted {
			o.DeletionTimestamp = &o.CreationTimestamp
		}
		return o
	}
	for sentence, c := range map[string]struct {
		all  []v1.NMState
		want string
	}{
		"none":                              {nil, ""},
		"the only one":                      {[]v1.NMState{at("a", 1, false)}, "a"},
		"the older one":                     {[]v1.NMState{at("a", 2, false), at("b", 1, false)}, "b a"},
		"by name where they are of one age": {[]v1.NMState{at("b", 1, false), at("a", 1, false), at("c", 1, false)}, "a b c"},
		"not one that is being deleted":     {[]v1.NMState{at("a", 1, true), at("b", 2, false)}, "b"},
	} {
		chosen, ignored := Chosen(c.all)
		var got []string
		if chosen != nil {
			got = append(got, chosen.Name)
		}
		for _, object := range ignored {
			got = append(got, object.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: want %s, got %v", sentence, c.want, got)
		}
	}
}

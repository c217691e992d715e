package once

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestWhatAPassComesTo(t *testing.T) {
	for sentence, test := range map[string]struct {
		policies   bool
		state      *v1.NodeNetworkState
		enactment  v1.ConditionType
		waiting    string
		failure    string
		enactments int
	}{
		"a node without a state is waited for":                             {true, nil, "", "for NodeNetworkState node1", "", 0},
		"a generation that was not looked at is waited for":                {false, state(2, 1, ""), "", "for generation 2 of the desired state", "", 0},
		"a node that is not managed is done":                               {true, unmanaged(), v1.EnactmentPending, "", "", 0},
		"a desired state that was refused fails the pass":                  {false, state(2, 2, "no such key"), "", "", "desired state of node1: no such key", 0},
		"in centralized mode the enactments are the controllers' business": {false, state(2, 2, ""), v1.EnactmentFailing, "", "", 0},
		"in distributed mode a failing one fails the pass":                 {true, state(2, 2, ""), v1.EnactmentFailing, "", "node1.p: because", 1},
		"one that was aborted too":                                         {true, state(2, 2, ""), v1.EnactmentAborted, "", "node1.p: aborted", 1},
		"one that is pending is waited for, with what it waits for":        {true, state(2, 2, ""), v1.EnactmentPending, "for enactment node1.p: because", "", 1},
		"one that is planned is done, since nothing is to be applied":      {true, state(2, 2, ""), v1.Planned, "", "", 1},
		"and so is one that is Available":                                  {true, state(2, 2, ""), v1.EnactmentAvailable, "", "", 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			var objects []client.Object
			if test.state != nil {
				objects = append(objects, test.state)
			}
			if test.enactment != "" {
				objects = append(objects, enactment(test.enactment))
			}
			var got Verdict
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
			if err := got.look(t.Context(), c, "node1", test.policies); err != nil {
				t.Fatal(err)
			}
			failure := strings.Join(got.failures, "; ")
			if got.waiting != test.waiting || failure != test.failure || len(got.enactments) != test.enactments {
				t.Errorf("waiting %q, failure %q, %d enactments", got.waiting, failure, len(got.enactments))
			}
			var printed strings.Builder
			if err := got.Write(&printed, "node1", got.failure()); err != nil || !strings.Contains(printed.String(), test.failure) {
				t.Errorf("printed %s: %v", printed.String(), err)
			}
		})
	}
}

func state(generation, observed int64, failure string) *v1.NodeNetworkState {
	nns := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "node1", Generation: generation}}
	nns.Status.ObservedGeneration = observed
	if failure != "" {
		nns.Status.Conditions = []v1.Condition{{Type: v1.StateFailing, Status: metav1.ConditionTrue, Message: failure}}
	}
	return nns
}

func unmanaged() *v1.NodeNetworkState {
	nns := state(2, 1, "")
	nns.Spec.Managed = new(false)
	return nns
}

func enactment(is v1.ConditionType) *v1.NodeNetworkConfigurationEnactment {
	e := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: "node1.p", Labels: map[string]string{v1.EnactmentNodeLabel: "node1", v1.EnactmentPolicyLabel: "p"},
	}}
	e.Status.Conditions = []v1.Condition{{Type: is, Status: metav1.ConditionTrue, Message: "because"}}
	return e
}

package plan

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestOnlyChangesThatAPlanDependsOnCauseOne(t *testing.T) {
	enactment := func(change func(*v1.NodeNetworkConfigurationEnactment)) *v1.NodeNetworkConfigurationEnactment {
		e := on{name: "n", approved: 1, reported: 1, shows: showing(v1.EnactmentProgressing)}.enactment()
		change(&e)
		return &e
	}
	unchanged := enactment(func(*v1.NodeNetworkConfigurationEnactment) {})
	tests := map[string]struct {
		before, after *v1.NodeNetworkConfigurationEnactment
		want          bool
	}{
		"an enactment's message does not": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Conditions[0].Message = "still"
		}), false},
		"the cause of a failure does":        {new(failsOn("a", "a probe was lost", nil)), new(failsOn("a", "policy p conflicts with policy q", nil)), true},
		"the number of the attempt does not": {new(failsOn("a", "a probe was lost Retrying 1/5", nil)), new(failsOn("a", "a probe was lost Retrying 2/5", nil)), false},
		"an enactment's condition does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Conditions[0].Type = v1.EnactmentAvailable
		}), true},
		"an enactment's generation does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.PolicyGeneration = 2
		}), true},
		"how a generation comes out on the node does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Hash = "new"
		}), true},
		"what the node has committed does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Committed = &v1.CommittedPolicy{Generation: 1}
		}), true},
		"the state of what it has committed does not": {
			enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
				e.Status.Committed = &v1.CommittedPolicy{Generation: 1}
			}), enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
				e.Status.Committed = &v1.CommittedPolicy{Generation: 1, Priority: 1}
			}), false,
		},
		"that somebody manages its node again does": {
			enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
				e.Status.Conditions = on{setAside: true}.enactment().Status.Conditions
			}), enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
				e.Status.Conditions = on{setAside: true}.enactment().Status.Conditions
				e.Status.Conditions[0].Message = "Waiting for progressing nodes to finish"
			}), true,
		},
		"an enactment's plan does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Status.Plan = &v1.EnactmentPlan{Hash: "x"}
		}), true},
		"an enactment's spec does": {unchanged, enactment(func(e *v1.NodeNetworkConfigurationEnactment) {
			e.Spec.ApprovedGeneration = 0
		}), true},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			if got := !ReadsAlike(test.before, test.after); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

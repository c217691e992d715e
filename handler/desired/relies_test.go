package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestWhatADecisionReliesOn(t *testing.T) {
	enactment := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
		Name: "n1.p", ResourceVersion: "7", Labels: map[string]string{v1.EnactmentPolicyLabel: "p"},
		OwnerReferences: []metav1.OwnerReference{{Kind: policyKind, Name: "p", UID: "old"}},
	}}
	committed := enactment
	committed.Status.Committed = &v1.CommittedPolicy{Generation: 1}
	failed := committed
	failed.Status.Retry = &v1.EnactmentRetry{Attempts: 3}
	source := func(policy string) v1.DesiredSource { return v1.DesiredSource{Source: v1.Source{Policy: policy}} }
	state := StateAt{"state", "5"}
	stays := PolicyStays{"p", "policy", 3}
	written := []StatusWrite{{Name: "n1.p"}}
	for sentence, c := range map[string]struct {
		enactment *v1.NodeNetworkConfigurationEnactment
		decision  Decision
		started   bool
		stateless bool
		want      []Reliance
	}{
		"nothing that is written relies on nothing":                    {},
		"the first status, on the state that was read":                 {decision: Decision{Statuses: written}, want: []Reliance{state}},
		"the first status, on that there is no state":                  {decision: Decision{Statuses: written}, stateless: true, want: []Reliance{StateAt{}}},
		"a later one, on nothing":                                      {decision: Decision{Statuses: written}, started: true},
		"one that records a failure, on the state that tells of it":    {decision: Decision{Statuses: written, Charges: true}, started: true, want: []Reliance{state}},
		"a spec that goes back to what is committed, on nothing":       {decision: Decision{Spec: &Spec{}}},
		"a spec, on its policy, and on an enactment that may be there": {decision: Decision{Spec: &Spec{Policy: "p", UID: "policy", Generation: 3}}, want: []Reliance{stays, EnactmentAt{"p", v1.EnactmentNames("n1", "node", "p"), ""}}},
		"a spec, on its policy, and on the enactment that is there":    {enactment: &enactment, decision: Decision{Spec: &Spec{Policy: "p", UID: "policy", Generation: 3}}, want: []Reliance{stays, EnactmentAt{"p", []string{"n1.p"}, "7"}}},
		"a spec, on its policy, where the enactment is written with it": {
			enactment: &enactment, started: true, decision: Decision{Statuses: written, Spec: &Spec{Policy: "p", UID: "policy", Generation: 3}}, want: []Reliance{stays},
		},
		"a spec whose policy gives up its own change, on that policy": {
			enactment: &enactment, decision: Decision{GivesUp: []string{"p"}, Spec: &Spec{Policy: "p", UID: "policy", Generation: 3}}, want: []Reliance{stays},
		},
		"a spec that a policy leaves and that gives up its change, on both": {
			enactment: &enactment, decision: Decision{GivesUp: []string{"p"}, Spec: &Spec{Policy: "p", UID: "policy"}},
			want: []Reliance{PolicyLeaves{Name: "p", UID: "policy"}, EnactmentAt{"p", []string{"n1.p"}, "7"}},
		},
		"a spec to which another policy returns, on that one and its enactment, too": {
			enactment: &enactment, decision: Decision{Spec: &Spec{Policy: "q", UID: "policy", Sources: []v1.DesiredSource{source("has"), source("p"), source("q")}}},
			want: []Reliance{PolicyLeaves{Name: "q", UID: "policy"}, PolicyStays{Name: "p"}, EnactmentAt{"p", []string{"n1.p"}, "7"}, EnactmentAt{"q", v1.EnactmentNames("n1", "node", "q"), ""}},
		},
		"a spec that a policy leaves, on its enactment: what the node has may be of another policy of that name": {
			enactment: &enactment, decision: Decision{Spec: &Spec{Policy: "p", UID: "policy"}},
			want: []Reliance{PolicyLeaves{Name: "p", UID: "policy"}, EnactmentAt{"p", []string{"n1.p"}, "7"}},
		},
		"an enactment goes, on that its policy has left": {
			enactment: &enactment, decision: Decision{Delete: []string{"n1.p"}}, want: []Reliance{PolicyLeaves{Name: "p", UID: "old"}},
		},
		"one of which something was committed, on that, or that the node has given it up": {
			enactment: &committed, decision: Decision{Delete: []string{"n1.p"}},
			want: []Reliance{PolicyLeaves{"p", "old", StateWithout{"state", 9, "p"}}},
		},
		"one that tells how often the policy has failed, on that it has left": {
			enactment: &failed, decision: Decision{Delete: []string{"n1.p"}}, want: []Reliance{PolicyLeaves{Name: "p", UID: "old"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := Input{Node: "n1", NodeUID: "node", State: &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{UID: "state", ResourceVersion: "5", Generation: 9}}}
			in.State.Spec.Sources = []v1.DesiredSource{source("has")}
			if c.stateless {
				in.State = nil
			}
			if c.enactment != nil {
				in.Enactments = []v1.NodeNetworkConfigurationEnactment{*c.enactment}
			}
			if diff := cmp.Diff(c.want, in.Relies(c.decision, c.started)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhetherAPolicyIsAsItWasDecidedOn(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", Labels: map[string]string{"zone": "a"}}}
	selecting := func(zone string) *v1.NodeNetworkConfigurationPolicy {
		return &v1.NodeNetworkConfigurationPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "policy", Generation: 3},
			Spec:       v1.NodeNetworkConfigurationPolicySpec{NodeSelector: map[string]string{"zone": zone}},
		}
	}
	going := selecting("a")
	now := metav1.Now()
	going.DeletionTimestamp = &now
	edited, another := selecting("a"), selecting("a")
	edited.Generation, another.UID = 4, "another"
	for sentence, c := range map[string]struct {
		live                    *v1.NodeNetworkConfigurationPolicy
		nodeless                bool
		stays, anyStays, leaves bool
	}{
		"it selects the node":           {live: selecting("a"), stays: true, anyStays: true},
		"it selects other nodes":        {live: selecting("b"), leaves: true},
		"it was edited":                 {live: edited, anyStays: true},
		"it is being deleted":           {live: going, leaves: true},
		"it is gone":                    {leaves: true},
		"another one has its name":      {live: another, anyStays: true, leaves: true},
		"the node has left the cluster": {live: selecting("a"), nodeless: true, leaves: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			at := node
			if c.nodeless {
				at = nil
			}
			if got := (PolicyStays{"p", "policy", 3}).Holds(c.live, at); got != c.stays {
				t.Errorf("stays: %v", got)
			}
			if got := (PolicyStays{Name: "p"}).Holds(c.live, at); got != c.anyStays {
				t.Errorf("stays at any generation: %v", got)
			}
			if got := (PolicyLeaves{Name: "p", UID: "policy"}).Holds(c.live, at); got != c.leaves {
				t.Errorf("leaves: %v", got)
			}
		})
	}
}

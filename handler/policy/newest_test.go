package policy

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

func TestAnEnactmentThatTellsOfANewerPolicy(t *testing.T) {
	for sentence, c := range map[string]struct {
		live *v1.NodeNetworkConfigurationPolicy
		want bool
	}{
		"is waited for while the API server has that policy":                     {live: policyAt("policy", 4), want: false},
		"is put right where the API server has none, so somebody else wrote it":  {live: policyAt("policy", 3), want: true},
		"is waited for where the API server has another policy of the same name": {live: policyAt("another", 3), want: false},
	} {
		t.Run(sentence, func(t *testing.T) {
			g := &gathered{}
			g.input.Policies = []desired.Policy{{Name: "p", UID: "policy", Generation: 3}}
			e := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
				Name: "n1.p", Labels: map[string]string{v1.EnactmentPolicyLabel: "p"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: "policy"}},
			}}
			e.Status.PolicyGeneration = 4
			g.input.Node, g.input.Enactments = "n1", []v1.NodeNetworkConfigurationEnactment{e}
			if behind := desired.Decide(g.input).Behind; len(behind) != 1 || behind[0] != "p" {
				t.Fatalf("behind before the live read: %q, want p", behind)
			}
			if err := New(Options{Live: live{policy: *c.live}}).readNewest(t.Context(), g, []string{"p"}); err != nil {
				t.Fatal(err)
			}
			if decided := len(desired.Decide(g.input).Behind) == 0; decided != c.want {
				t.Errorf("decided after the live read: %v, want %v", decided, c.want)
			}
		})
	}
}

func policyAt(uid types.UID, generation int64) *v1.NodeNetworkConfigurationPolicy {
	return &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: uid, Generation: generation}}
}

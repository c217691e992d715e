package v1

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestEnactmentNames(t *testing.T) {
	const uid = types.UID("6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
	long := strings.Repeat("n", 63)
	longest := strings.Join([]string{long, long, long, long[:61]}, ".")
	for sentence, tt := range map[string]struct {
		node, policy string
		want         []string
	}{
		"what could not be called as another one has one name":  {"node1", "p", []string{"node1.p"}},
		"a node with a dot might be a node and half a policy":   {"node1.x", "p", []string{"node1.x.p", "p-" + string(uid)}},
		"a policy with a dot might be half a node and a policy": {"node1", "x.p", []string{"node1.x.p", "x.p-" + string(uid)}},
		"what is too long together has its node's UID":          {longest, long, []string{long + "-" + string(uid)}},
		"what just fits has the ordinary name":                  {longest[:251], "p", []string{longest[:251] + ".p", "p-" + string(uid)}},
		"no ordinary name ends in a UID":                        {"node1", "p-" + string(uid), []string{"p-" + string(uid) + "-" + string(uid)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := EnactmentNames(tt.node, uid, tt.policy)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, name := range got {
				if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
					t.Errorf("%s is no name: %s", name, wrong)
				}
			}
		})
	}
}

func TestWhatAnEnactmentIsAbout(t *testing.T) {
	labels := map[string]string{EnactmentNodeLabel: "node1", EnactmentPolicyLabel: "x.p"}
	node := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "node2"}
	policy := metav1.OwnerReference{APIVersion: GroupVersion.String(), Kind: "NodeNetworkConfigurationPolicy", Name: "x.p"}
	for sentence, tt := range map[string]struct {
		owners     []metav1.OwnerReference
		labels     map[string]string
		want, says string
	}{
		"the owner tells the node":                                 {[]metav1.OwnerReference{policy, node}, labels, "node2", "x.p"},
		"without an owner the label does":                          {[]metav1.OwnerReference{policy}, labels, "node1", "x.p"},
		"one that has neither is about nothing, whatever its name": {nil, nil, "", ""},
	} {
		e := &NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: "node3.q", Labels: tt.labels, OwnerReferences: tt.owners}}
		if e.Node() != tt.want || e.Policy() != tt.says {
			t.Errorf("%s: got node %q, policy %q", sentence, e.Node(), e.Policy())
		}
	}
}

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const madeUp = 1 << 40

func TestANodeThatSaysWhatIsNotSoKeepsNobodyWaiting(t *testing.T) {
	for sentence, tt := range map[string]struct {
		nodes  []on
		newest bool
		grants []string
	}{
		"a newer generation than was read may be there, and nothing is decided": {
			nodes: []on{{name: "a"}, {name: "b", reported: generation + 1}},
		},
		"a newer generation than there is stops nobody": {
			nodes: []on{{name: "a"}, {name: "b", reported: madeUp}}, newest: true, grants: []string{"a"},
		},
		"nor does one that a node tells which the policy does not select": {
			nodes: []on{{name: "a"}, {name: "b", reported: madeUp, elsewhere: true}}, newest: true, grants: []string{"a"},
		},
		"a node that is not selected, and was granted nothing, takes no slot by telling that it changes": {
			nodes: []on{{name: "a"}, {name: "b", elsewhere: true, shows: showing(v1.EnactmentProgressing)}}, grants: []string{"a"},
		},
		"one that was granted a generation before it was no longer selected holds its slot while it changes": {
			nodes: []on{{name: "a"}, {name: "b", elsewhere: true, approved: 2, reported: 2, shows: showing(v1.EnactmentProgressing)}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			in := inputOf(intstr.FromInt32(1), tt.nodes)
			in.Newest = tt.newest
			if diff := cmp.Diff(tt.grants, decided(t, in).Grants); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestAGrantThatMayBeThereKeepsItsSlot(t *testing.T) {
	for sentence, c := range map[string]struct {
		nodes  []on
		unsure map[string]bool
		want   []string
	}{
		"nothing is unsure":                              {[]on{{name: "a"}, {name: "b"}}, nil, []string{"a"}},
		"it is granted again before any other":           {[]on{{name: "a"}, {name: "b"}}, map[string]bool{"b": true}, []string{"b"}},
		"the cache shows that it was written, and ended": {[]on{{name: "a"}, {name: "b", approved: generation, reported: generation, shows: []v1.ConditionType{v1.EnactmentAvailable}}}, map[string]bool{"b": true}, []string{"a"}},
		"it cannot be granted again, since the node is not Ready": {
			[]on{{name: "a"}, {name: "b", notReady: true}}, map[string]bool{"b": true}, nil,
		},
	} {
		in := inputOf(intstr.FromInt32(1), c.nodes)
		in.Unsure = c.unsure
		if diff := cmp.Diff(c.want, decided(t, in).Grants); diff != "" {
			t.Errorf("%s: grants differ (-want +got):\n%s", sentence, diff)
		}
	}
}

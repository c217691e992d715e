package plan

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestTheStatusTellsWhoHoldsSlots(t *testing.T) {
	at := func(name string, kind v1.ConditionType) on {
		return on{name: name, approved: generation, reported: generation, shows: showing(kind)}
	}
	dead := func(name string) on {
		one := at(name, v1.EnactmentProgressing)
		one.notReady, one.changed = true, time.Hour
		return one
	}
	tests := map[string]struct {
		limit intstr.IntOrString
		mode  string
		nodes []on
		want  *v1.PolicySlots
	}{
		"a node that is changing has one, and one that begins gets one": {
			intstr.FromInt32(2), "", []on{at("a", v1.EnactmentAvailable), at("b", v1.EnactmentProgressing), {name: "c"}, {name: "d"}}, &v1.PolicySlots{Limit: 2, Taken: 2, Holders: []string{"b", "c"}},
		},
		"a node that fails keeps it": {intstr.FromString("100%"), "", []on{at("a", v1.EnactmentFailing), at("b", v1.EnactmentAvailable)}, &v1.PolicySlots{Limit: 2, Taken: 1, Holders: []string{"a"}}},
		"nobody needs one any more":  {intstr.FromInt32(1), "", []on{at("a", v1.EnactmentAvailable)}, &v1.PolicySlots{Limit: 1, Holders: []string{}}},
		"a node that died in the middle of the change has given it back": {
			intstr.FromInt32(1), "", []on{dead("a"), at("b", v1.EnactmentProgressing)}, &v1.PolicySlots{Limit: 1, Taken: 1, Holders: []string{"b"}},
		},
		"of two that died only the first one has": {intstr.FromInt32(3), "", []on{dead("a"), dead("b"), at("c", v1.EnactmentAvailable)}, &v1.PolicySlots{Limit: 3, Taken: 1, Holders: []string{"b"}}},
		"one that is changing for an older generation has one": {
			intstr.FromInt32(1), "", []on{{name: "a", approved: generation - 1, reported: generation - 1, shows: showing(v1.EnactmentProgressing)}, {name: "b"}}, &v1.PolicySlots{Limit: 1, Taken: 1, Holders: []string{"a"}},
		},
		"a plan needs none":      {intstr.FromInt32(1), modePlan, []on{{name: "a"}}, nil},
		"without a node is none": {intstr.FromInt32(1), "", nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := inputOf(tc.limit, tc.nodes)
			in.Policy.Spec.Mode = tc.mode
			out := decided(t, in)
			if diff := cmp.Diff(tc.want, out.Status.Slots); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if diff := cmp.Diff(asOlder(tc.want, in.Now), olderOf(out.Status)); diff != "" {
				t.Errorf("what scripts for the older project read (-want +got):\n%s", diff)
			}
			in.Policy.Status = out.Status
			if again := decided(t, in); again.StatusChanged && len(out.Grants) == 0 {
				t.Error("nothing changed, and the status is written again")
			}
		})
	}
}

// older is what the older project's status says of slots.
type older struct {
	Count int32
	Map   map[string]int64
	Since *metav1.Time
}

func olderOf(status v1.NodeNetworkConfigurationPolicyStatus) older {
	return older{status.UnavailableNodeCount, status.UnavailableNodeCountMap, status.LastUnavailableNodeCountUpdate}
}

func asOlder(slots *v1.PolicySlots, now metav1.Time) older {
	if slots == nil {
		return older{}
	}
	want := older{Count: slots.Taken, Map: map[string]int64{strconv.Itoa(generation): int64(slots.Taken)}}
	if slots.Taken > 0 {
		want.Since = &now
	}
	return want
}

func TestOfManyHoldersTheFirstAreNamed(t *testing.T) {
	var nodes []on
	for i := range 150 {
		nodes = append(nodes, on{name: fmt.Sprintf("n%03d", i)})
	}
	slots := decided(t, inputOf(intstr.FromString("100%"), nodes)).Status.Slots
	if slots.Taken != 150 || slots.Limit != 150 || len(slots.Holders) != maxHolders || slots.Holders[0] != "n000" {
		t.Errorf("%d of %d taken, %d named", slots.Taken, slots.Limit, len(slots.Holders))
	}
}

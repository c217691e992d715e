package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

func TestSoaks(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	// look is one plan: how long after the first, and each node's time in its enactment,
	// counted from noon; a node without one is not configured.
	type look struct {
		after      time.Duration
		configured map[string]time.Duration
		want       map[string]time.Duration
	}
	const not = time.Duration(-1 << 62)
	tests := map[string][]look{
		"what is configured when this process begins, the node's clock tells of": {
			{0, map[string]time.Duration{"a": -time.Hour}, map[string]time.Duration{"a": time.Hour}},
		},
		"a clock that was ahead then is waited for no longer than others": {
			{0, map[string]time.Duration{"a": time.Hour}, map[string]time.Duration{"a": 0}},
			{time.Minute, map[string]time.Duration{"a": time.Hour}, map[string]time.Duration{"a": time.Minute}},
		},
		"what is configured while this process looks on is counted by its own clock, ahead or behind": {
			{0, map[string]time.Duration{"a": not, "b": not}, nil},
			{time.Minute, map[string]time.Duration{"a": 2 * time.Hour, "b": -2 * time.Hour}, map[string]time.Duration{"a": 0, "b": 0}},
			{90 * time.Second, map[string]time.Duration{"a": 2 * time.Hour, "b": -2 * time.Hour}, map[string]time.Duration{"a": 30 * time.Second, "b": 30 * time.Second}},
		},
		"what is configured anew soaks anew": {
			{0, map[string]time.Duration{"a": -time.Hour}, map[string]time.Duration{"a": time.Hour}},
			{time.Minute, map[string]time.Duration{"a": 50 * time.Second}, map[string]time.Duration{"a": 0}},
		},
		"a node that joins while this process looks on": {
			{0, nil, nil},
			{time.Minute, map[string]time.Duration{"a": -time.Hour}, map[string]time.Duration{"a": 0}},
		},
	}
	for sentence, looks := range tests {
		t.Run(sentence, func(t *testing.T) {
			s := &soaks{}
			policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			policy.Spec.Rollout = &v1.Rollout{SoakSeconds: 60}
			for _, look := range looks {
				in := plan.Input{Policy: policy, Now: metav1.NewTime(noon.Add(look.after))}
				for node, since := range look.configured {
					one := v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{
						Name: node + ".p", UID: types.UID(node), Labels: map[string]string{v1.EnactmentNodeLabel: node},
					}}
					if since != not {
						one.Status.Committed = &v1.CommittedPolicy{Since: metav1.NewTime(noon.Add(since))}
					}
					in.Enactments = append(in.Enactments, one)
				}
				got := s.observe(in, 5*time.Hour+look.after)
				for node, since := range look.configured {
					if since == not {
						delete(got, node)
					}
				}
				if len(got)+len(look.want) > 0 && !cmp.Equal(got, look.want) {
					t.Errorf("after %s: %s", look.after, cmp.Diff(look.want, got))
				}
			}
			s.forget("p")
			if len(s.policies) != 0 {
				t.Error("a policy that is gone is remembered")
			}
		})
	}
}

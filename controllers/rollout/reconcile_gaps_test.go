package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestANodeIsNotReadyForAsLongAsThisProcessSawIt(t *testing.T) {
	longAgo := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	node := func(name string, ready corev1.ConditionStatus, since time.Time) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready, LastTransitionTime: metav1.NewTime(since)}},
		}}
	}
	gone := func(since time.Time) corev1.Node { return node("node1", corev1.ConditionUnknown, since) }
	type look struct {
		at    time.Duration
		nodes []corev1.Node
		want  map[string]time.Duration
	}
	none := map[string]time.Duration{}
	for name, looks := range map[string][]look{
		"the time in its condition does not count: it is another machine's": {
			{time.Hour, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": 0}},
			{time.Hour + time.Minute, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": time.Minute}},
		},
		"a node that was Ready in between begins again": {
			{0, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": 0}},
			{time.Minute, []corev1.Node{node("node1", corev1.ConditionTrue, longAgo.Add(time.Second))}, none},
			{2 * time.Minute, []corev1.Node{gone(longAgo.Add(2 * time.Second))}, map[string]time.Duration{"node1": 0}},
		},
		"a node that was Ready in between, unseen, begins again": {
			{0, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": 0}},
			{time.Minute, []corev1.Node{gone(longAgo.Add(30 * time.Second))}, map[string]time.Duration{"node1": 0}},
		},
		"a node that goes from NotReady to Unknown begins again: it may have been Ready in between": {
			{0, []corev1.Node{node("node1", corev1.ConditionFalse, longAgo)}, map[string]time.Duration{"node1": 0}},
			{time.Minute, []corev1.Node{gone(longAgo.Add(40 * time.Second))}, map[string]time.Duration{"node1": 0}},
			{2 * time.Minute, []corev1.Node{gone(longAgo.Add(40 * time.Second))}, map[string]time.Duration{"node1": time.Minute}},
		},
		"a node that was deleted is forgotten": {
			{0, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": 0}},
			{time.Minute, nil, none},
			{2 * time.Minute, []corev1.Node{gone(longAgo)}, map[string]time.Duration{"node1": 0}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			seen := gaps{}
			for _, l := range looks {
				if diff := cmp.Diff(l.want, seen.observe(l.nodes, l.at)); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", l.at, diff)
				}
			}
		})
	}
}

package oracle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestGrant(t *testing.T) {
	judge(t, func() Oracle { return newGrant() }, one, map[string]history{
		"what was granted is applied": {play: func(s *stage) {
			s.policy(1)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
			s.try("n1", change())
		}},
		"what was not granted is applied": {want: "not granted", play: func(s *stage) {
			s.policy(1)
			s.wrote("controllers-1", s.enacted("n1", 0, ""), "spec")
			s.try("n1", change())
		}},
		"what was aborted is applied": {want: "aborted", play: func(s *stage) {
			s.policy(1)
			e := s.enacted("n1", 0, "")
			e.Spec.AbortedGeneration = 1
			s.wrote("controllers-1", e, "spec")
			s.try("n1", change())
		}},
		"a node that has not matched for long": {want: "not selected for", play: func(s *stage) {
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
			s.run(time.Minute)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
		}},
		"a node that matched a moment ago": {play: func(s *stage) {
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
			s.run(time.Minute)
			s.wrote("outside", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, "meta")
			s.run(time.Second)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
		}},
		"a node that has not matched since the controllers' cache was late": {play: func(s *stage) { grantedLate(s, time.Second) }},
		"a node that has not matched since the cache had caught up": {
			want: "not selected for", play: func(s *stage) { grantedLate(s, 6*time.Minute) },
		},
		"what was granted is applied as its policy is deleted": {play: func(s *stage) { policyLeaves(s, "enactment") }},
		"what an earlier enactment was granted is applied":     {want: "not granted", play: func(s *stage) { policyLeaves(s, "another") }},
	})
}

// grantedLate has a policy leave a node, so long after the controllers' reads were
// stale, and be granted there all the same.
func grantedLate(s *stage, after time.Duration) {
	s.tell(Controllers, Fault{Kind: "stale-reads", On: true})
	s.run(time.Minute)
	s.tell(Controllers, Fault{Kind: "stale-reads", End: true})
	s.run(after)
	p := s.policy(1)
	p.Spec.NodeSelector = map[string]string{"nobody": "has"}
	s.wrote("kubectl", p, "spec")
	s.run(time.Minute)
	s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
}

// policyLeaves has a change begin under an enactment, of which the garbage
// collector has left the Node as its only owner.
func policyLeaves(s *stage, uid types.UID) {
	s.policy(1)
	e := s.enacted("n1", 1, "")
	e.UID = "enactment"
	s.wrote("controllers-1", e, "spec")
	left := s.enacted("n1", 1, "")
	left.UID, left.OwnerReferences = uid, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "n1"}}
	s.store(left)
	s.try("n1", change())
}

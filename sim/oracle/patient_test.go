package oracle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
)

func TestPatient(t *testing.T) {
	// counts is a node that has been there for so long, and a policy that counts it as
	// not managed.
	counts := func(s *stage, there time.Duration) {
		node := s.Look(&corev1.Node{}, "n1").(*corev1.Node)
		delete(s.objects, "Node/n1")
		s.wrote("kubelet", node, "meta")
		s.run(there)
		s.policy(1)
		told := s.policy(1).DeepCopy()
		told.Status.Counts.NotManaged = 1
		s.wrote("controllers-1", told, "status")
	}
	// goes is a node that is removed, and so long after that the policy counts it.
	goes := func(s *stage, ago time.Duration) {
		node := s.objects["Node/n1"]
		delete(s.objects, "Node/n1")
		s.set.Tell(Event{What: Wrote{apiserver.Write{Verb: "delete", Kind: "Node", Name: "n1", Before: node}}})
		s.run(ago)
		told := s.policy(1).DeepCopy()
		told.Status.Counts.NotManaged = 1
		s.wrote("controllers-1", told, "status")
	}
	judge(t, func() Oracle { return newPatient() }, one, map[string]history{
		"it has just been removed":     {play: func(s *stage) { goes(s, time.Second) }},
		"it was removed some time ago": {want: "policy p counts 1 nodes as not managed; 0 are", play: func(s *stage) { goes(s, 2*grantLag) }},
		"its handler never came":       {play: func(s *stage) { counts(s, nodeGrace) }},
		"it has just joined":           {want: "policy p counts 1 nodes as not managed; 0 are", play: func(s *stage) { counts(s, time.Minute) }},
		"it has just joined, and the controllers' clock has jumped": {play: func(s *stage) {
			s.set.Tell(Event{What: Fault{Kind: "clock-jump", On: true}})
			counts(s, time.Minute)
		}},
		"its handler came long ago": {want: "policy p counts 1 nodes as not managed", play: func(s *stage) {
			s.wrote("handler/n1", s.nns("n1", true, wanted, 1), "status")
			counts(s, nodeGrace)
		}},
		"it is set aside, and its label has just left the policy": {play: func(s *stage) { leavesAside(s, time.Second) }},
		"it is set aside, and its label left the policy some time ago": {
			want: "policy p counts 1 nodes as not managed; 0 are", play: func(s *stage) { leavesAside(s, 2*grantLag) },
		},
		"it is set aside": {play: func(s *stage) {
			e := s.enacted("n1", 0, "")
			e.Status.Conditions = []v1.Condition{{Type: v1.EnactmentPending, Status: metav1.ConditionTrue, Reason: v1.ReasonNotManaged}}
			s.wrote("handler/n1", e, "status")
			counts(s, time.Minute)
		}},
	})
}

// leavesAside has a node that is set aside lose the label that a policy selects, and so long
// after that the policy counts it as not managed.
func leavesAside(s *stage, later time.Duration) {
	e := s.enacted("n1", 0, "")
	e.Status.Conditions = []v1.Condition{{Type: v1.EnactmentPending, Status: metav1.ConditionTrue, Reason: v1.ReasonNotManaged}}
	s.wrote("handler/n1", e, "status")
	before := s.objects["Node/n1"].DeepCopyObject().(*corev1.Node)
	before.Labels = map[string]string{"zone": "a"}
	s.set.Tell(Event{What: Wrote{apiserver.Write{Verb: "patch", Kind: "Node", Name: "n1", Before: before, After: s.objects["Node/n1"], Metadata: true}}})
	s.run(later)
	p := s.policy(1)
	p.Spec.NodeSelector = map[string]string{"zone": "a"}
	told := p.DeepCopy()
	told.Status.Counts.NotManaged = 1
	s.wrote("controllers-1", told, "status")
}

// The slot of a node that died goes to one other node, and of two that died to no more.
func TestANodeThatDied(t *testing.T) {
	dies := func(s *stage, node string, gone time.Duration) {
		s.try(node, change())
		s.wrote("kubelet", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, "status")
		s.run(gone)
	}
	for name, rule := range map[string]func() Oracle{"slots": func() Oracle { return newSlots() }, "blast": func() Oracle { return newBlast() }} {
		t.Run(name, func(t *testing.T) {
			judge(t, rule, three, map[string]history{
				"long ago": {play: func(s *stage) {
					s.policy(1)
					dies(s, "n1", nodeGrace)
					s.try("n2", change())
				}},
				"just now": {want: "maxUnavailable allows 1", play: func(s *stage) {
					s.policy(1)
					dies(s, "n1", time.Minute)
					s.try("n2", change())
				}},
				"just now, and by the controllers' clock long ago": {want: "maxUnavailable allows 1", play: func(s *stage) {
					s.policy(1)
					s.set.Tell(Event{Node: Controllers, What: Fault{Kind: "clock-jump", On: true}})
					dies(s, "n1", time.Minute)
					s.try("n2", change())
				}},
				"as another one did": {want: "maxUnavailable allows 2", play: func(s *stage) {
					s.policy(1)
					dies(s, "n1", nodeGrace)
					dies(s, "n2", nodeGrace)
					s.try("n3", change())
				}},
			})
		})
	}
}

// A node was granted, is set aside, and leaves; another one begins, and it comes back.
func TestANodeThatLeavesWhileNobodyManagesIt(t *testing.T) {
	const most = "2 nodes (n1, n2), and maxUnavailable allows 1"
	for sentence, c := range map[string]struct {
		managed, stays bool
		want           string
	}{
		"goes on when it comes back":                 {},
		"and one that is managed waits for its turn": {managed: true, want: most},
		"as one that had not left":                   {stays: true, want: most},
	} {
		judge(t, func() Oracle { return newBlast() }, three, map[string]history{sentence: {want: c.want, play: func(s *stage) {
			p := s.policy(1)
			node := s.Look(&corev1.Node{}, "n1").(*corev1.Node)
			e := s.enacted("n1", 1, v1.EnactmentProgressing)
			if !c.managed {
				e.Status.Conditions = []v1.Condition{{Type: v1.EnactmentPending, Status: metav1.ConditionTrue, Reason: v1.ReasonNotManaged}}
			}
			s.wrote("handler/n1", e, "status")
			p.Spec.NodeSelector = map[string]string{"zone": "a"}
			for _, name := range three {
				s.Look(&corev1.Node{}, name).SetLabels(p.Spec.NodeSelector)
			}
			if !c.stays {
				node.Labels = nil
			}
			s.wrote("controllers-1", s.enacted("n2", 1, v1.EnactmentProgressing), "spec")
			s.try("n2", change())
			s.end("n2", RolledBack)
			node.Labels = p.Spec.NodeSelector
			s.try("n1", change())
		}}})
	}
}

package oracle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestQuorum(t *testing.T) {
	plane := []string{"n1", "n2", "n3"}
	// begins has the first node of a control plane change for a while, and then the second
	// one let begin.
	begins := func(after time.Duration, between ...func(s *stage)) func(s *stage) {
		return func(s *stage) {
			s.policy(9)
			for _, name := range plane {
				s.store(&corev1.Node{ObjectMeta: metav1.ObjectMeta{
					Name: name, UID: types.UID(name), Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""},
				}})
				s.wrote("handler/"+name, s.enacted(name, 0, v1.EnactmentPending), "status")
			}
			s.run(time.Second)
			s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentProgressing), "status")
			for _, also := range between {
				also(s)
			}
			s.run(after)
			s.wrote("controllers-1", s.enacted("n2", 1, v1.EnactmentPending), "spec")
		}
	}
	judge(t, func() Oracle { return newQuorum() }, plane, map[string]history{
		"a second one of three begins":                 {want: "[n1] are away already", play: begins(time.Minute)},
		"the first one had ended":                      {play: begins(time.Minute, func(s *stage) { s.wrote("handler/n1", s.enacted("n1", 1, v1.EnactmentAvailable), "status") })},
		"the controllers may not have heard of it yet": {play: begins(time.Second)},
		"nor where something holds them up":            {play: begins(time.Minute, func(s *stage) { s.tell("", Fault{Kind: "events-lost", On: true}) })},
		"it is changing already, for another policy": {play: begins(time.Minute, func(s *stage) {
			others := s.enacted("n2", 0, v1.EnactmentProgressing)
			others.Name, others.Labels[v1.EnactmentPolicyLabel] = v1.EnactmentName("n2", "q"), "q"
			s.wrote("handler/n2", others, "status")
		})},
		"its handler died long ago": {play: begins(time.Hour, func(s *stage) { s.set.facts.notReady[silence+"n1"] = s.Elapsed() })},
		"the controllers may not have heard that the node's own change is over": {play: begins(time.Second, func(s *stage) {
			s.wrote("handler/n2", s.enacted("n2", 0, v1.EnactmentProgressing), "status")
			s.run(time.Minute)
			s.wrote("handler/n2", s.enacted("n2", 0, v1.EnactmentPending), "status")
		})},
		"who has it taken over says what it likes":      {play: begins(time.Minute, func(s *stage) { s.hosts["n1"].taken = true })},
		"of nodes without a control plane two may, too": {play: begins(time.Minute, func(s *stage) { s.store(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2", UID: "n2"}}) })},
	})
}

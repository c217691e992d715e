package oracle

import (
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

func TestLeave(t *testing.T) {
	nodes := []string{"n1", "n2", "n3"}
	asks := func(s *stage, node string, leave bool) *v1.NodeNetworkConfigurationEnactment {
		e := s.enacted(node, 1, v1.EnactmentPending)
		e.Status.WaitsToLeave, e.Spec.Leave = true, leave
		e.Status.Committed = &v1.CommittedPolicy{Generation: 1, Hash: "h"}
		return e
	}
	// lets has a policy that is gone be undone on the first node, and then on the second one.
	lets := func(between ...func(s *stage)) func(s *stage) {
		return func(s *stage) {
			for _, node := range nodes {
				e := asks(s, node, false)
				e.Spec.MaxUnavailable = s.policy(1).Spec.MaxUnavailable
				s.wrote("handler/"+node, e, "status")
			}
			delete(s.objects, kindOf(s.policy(1))+"/p")
			s.run(time.Minute)
			for _, node := range nodes[:2] {
				e := asks(s, node, true)
				e.Spec.MaxUnavailable = s.enactmentOf(node).Spec.MaxUnavailable
				s.wrote("controllers-1", e, "spec")
				for _, also := range between {
					also(s)
				}
				s.run(time.Minute)
			}
		}
	}
	judge(t, func() Oracle { return newLeave() }, nodes, map[string]history{
		"two nodes undo it, and one may": {want: "2 nodes may undo it at a time (n1, n2), and 1 are to", play: lets()},
		"the first one has left":         {play: lets(func(s *stage) { delete(s.objects, "NodeNetworkConfigurationEnactment/"+v1.EnactmentName("n1", "p")) })},
		"nobody knows what it said: half of them may": {play: lets(func(s *stage) {
			for _, node := range nodes {
				s.enactmentOf(node).Spec.MaxUnavailable = nil
			}
		})},
		"the controllers may not have heard":   {play: lets(func(s *stage) { s.tell("", Fault{Kind: "events-lost", On: true}) })},
		"one that is not Ready is away anyway": {play: lets(func(s *stage) { s.set.facts.notReady["n2"] = 0 })},
		"a node undoes it that was not let":    {want: "was not let leave", play: undoes(asks, false)},
		"a node undoes it that was let":        {play: undoes(asks, true)},
	})
}

// undoes has the first node undo a policy.
func undoes(asks func(s *stage, node string, leave bool) *v1.NodeNetworkConfigurationEnactment, let bool) func(s *stage) {
	return func(s *stage) {
		s.wrote("handler/n1", asks(s, "n1", let), "status")
		s.run(time.Hour)
		s.hosts["n1"].record.Committed = &journal.Committed{Sources: []v1.DesiredSource{
			{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}, OnDelete: v1.OnDeleteRevert},
		}}
		removal := change()
		removal.Sources = nil
		s.try("n1", removal)
	}
}

func (s *stage) enactmentOf(node string) *v1.NodeNetworkConfigurationEnactment {
	return s.Look(&v1.NodeNetworkConfigurationEnactment{}, v1.EnactmentName(node, "p")).(*v1.NodeNetworkConfigurationEnactment)
}

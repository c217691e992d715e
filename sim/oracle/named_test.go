package oracle

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestNamed(t *testing.T) {
	made := func(s *stage, node, policy, name string) {
		e := s.enacted(node, 0, "")
		e.Labels[v1.EnactmentPolicyLabel], e.Name = policy, name
		s.wrote("controllers-1", e, "meta")
	}
	judge(t, func() Oracle { return newNamed() }, one, map[string]history{
		"the ordinary name": {play: func(s *stage) { made(s, "n1", "p", "n1.p") }},
		"another name although that is free": {
			want: "could be called n1.p", play: func(s *stage) { made(s, "n1", "p", "p-uid") },
		},
		"another name where that is taken": {play: func(s *stage) {
			made(s, "n1.x", "p", "n1.x.p")
			made(s, "n1", "x.p", "x.p-uid")
		}},
		"a second one of the same node and policy": {
			want: "is made beside x.p-uid", play: func(s *stage) {
				made(s, "n1.x", "p", "n1.x.p")
				made(s, "n1", "x.p", "x.p-uid")
				s.store(s.enacted("n1", 0, ""))
				delete(s.objects, "NodeNetworkConfigurationEnactment/n1.x.p")
				made(s, "n1", "x.p", "n1.x.p")
			},
		},
	})
}

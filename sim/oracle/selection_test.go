package oracle

import (
	"testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestSelection(t *testing.T) {
	selects := func(s *stage, matched ...string) {
		s.hosts["n1"].network = `{"interfaces":[{"name":"eth1","type":"ethernet","state":"up"},{"name":"eth2","type":"ethernet","state":"up"}]}`
		s.policy(1).Spec.Match = []v1.InterfaceRule{{Name: "eth[12]"}}
		s.store(s.nns("n1", true, wanted, 2))
		e := s.enacted("n1", 1, v1.EnactmentAvailable)
		e.Status.MatchedInterfaces = matched
		s.store(e)
	}
	judge(t, func() Oracle { return selection{} }, one, map[string]history{
		"all that matches is selected": {play: func(s *stage) { selects(s, "eth1", "eth2") }},
		"a NIC is left out":            {want: "policy p: eth2 of node n1 matches and is left out", play: func(s *stage) { selects(s, "eth1") }},
		"a NIC is gone":                {play: func(s *stage) { selects(s, "eth1", "eth2", "eth3") }},
	})
}

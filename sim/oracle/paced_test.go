package oracle

import (
	"fmt"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestPaced(t *testing.T) {
	reports := func(s *stage, mtu int, also ...v1.ConditionType) {
		nns := s.nns("n1", true, wanted, 1)
		nns.Status.CurrentState = v1.NewState(fmt.Appendf(nil, `{"interfaces":[{"name":"eth1","mtu":%d}]}`, mtu))
		for _, kind := range also {
			nns.Status.Conditions = append(nns.Status.Conditions, v1.Condition{Type: kind})
		}
		s.wrote("handler/n1", nns, "status")
	}
	twice := func(pause time.Duration) func(s *stage) {
		return func(s *stage) {
			for mtu := range 3 {
				s.run(pause)
				reports(s, 1400+mtu)
			}
		}
	}
	judge(t, func() Oracle { return newPaced() }, one, map[string]history{
		"a network is told again at once":          {want: "reported again after 200ms", play: twice(200 * time.Millisecond)},
		"a network is told again once that is old": {play: twice(time.Second)},
		"an outcome takes the network along": {play: func(s *stage) {
			twice(time.Second)(s)
			reports(s, 1403, v1.StateFailing)
		}},
		"the next process tells at once": {play: func(s *stage) {
			twice(time.Second)(s)
			s.tell("n1", Died{})
			reports(s, 1403)
		}},
		"by a clock that jumps": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			twice(time.Millisecond)(s)
		}},
	})
}

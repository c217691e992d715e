package oracle

import (
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func TestTerse(t *testing.T) {
	often := func(process string, pause time.Duration) func(s *stage) {
		return func(s *stage) {
			for range mostAMinute + 1 {
				s.wrote(process, s.enacted("n1", 1, v1.EnactmentAvailable), "spec")
				s.run(pause)
			}
		}
	}
	judge(t, func() Oracle { return newTerse() }, one, map[string]history{
		"the controllers write about a node on and on": {want: "wrote about node n1 601 times", play: often("controllers-1", time.Millisecond)},
		"so they do about one that lies": {want: "wrote about node n1 601 times", play: func(s *stage) {
			s.hosts["n1"].taken = true
			often("controllers-1", time.Millisecond)(s)
		}},
		"they write now and then":             {play: often("controllers-1", time.Second)},
		"a node writes about itself as often": {play: often("handler/n1", time.Millisecond)},
	})
}

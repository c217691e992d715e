package oracle

import (
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
)

func TestLastWord(t *testing.T) {
	const soon, late = time.Second, time.Minute
	// leaves has a policy that the node has leave, so long after it was edited and deleted.
	leaves := func(said, asked string, after time.Duration, between ...func(s *stage)) func(s *stage) {
		return func(s *stage) {
			source := v1.DesiredSource{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}, OnDelete: asked}
			s.tell("n1", Read{Like: s.policy(1), Name: "p"})
			s.run(time.Second)
			s.hosts["n1"].record.Committed = &journal.Committed{Sources: []v1.DesiredSource{source}}
			has := s.nns("n1", true, wanted, 1)
			has.Spec.Sources = []v1.DesiredSource{source}
			s.store(has)
			p := s.policy(1)
			p.Spec.OnDelete = said
			s.tell("", Wrote{apiserver.Write{Process: "user", Kind: kindOf(p), Name: p.Name, Before: p}})
			for _, also := range between {
				also(s)
			}
			s.run(after)
			s.wrote("handler/n1", s.nns("n1", true, before, 2), "spec")
		}
	}
	judge(t, newLastWordRule, one, map[string]history{
		"a policy that was let be undone at last is not": {want: "it said otherwise", play: leaves("Revert", "", late)},
		"a policy that was to stay at last is undone":    {want: "it said otherwise", play: leaves("", "Revert", late)},
		"a policy leaves as it said":                     {play: leaves("Revert", "Revert", late)},
		"retained is the same as nothing said":           {play: leaves("Retain", "", late)},
		"a turn that had begun knows nothing of it":      {play: leaves("Revert", "", soon)},
		"an hour later nobody knows":                     {play: leaves("Revert", "", time.Hour)},
		"the next process has not heard it":              {play: leaves("Revert", "", late, func(s *stage) { s.tell("n1", Died{}) })},
		"nor one that began afterwards": {play: leaves("Revert", "", late, func(s *stage) {
			s.tell("n1", Died{})
			s.tell("n1", Read{Like: s.policy(1), Name: "p"})
		})},
		"what was held up may not have been heard": {play: leaves("Revert", "", late, func(s *stage) { s.tell("n1", Fault{Kind: "events-lost", On: true}) })},
		"a node that was cut off has not heard it": {play: func(s *stage) {
			s.hosts["n1"].cut = true
			leaves("Revert", "", late)(s)
		}},
		"a policy that the node has not leaves nothing": {play: leaves("Revert", "", late, func(s *stage) { s.hosts["n1"].record.Committed = nil })},
		"another policy of its name says for itself":    {play: leaves("Revert", "", late, func(s *stage) { s.wrote("user", s.policy(1), "spec") })},
	})
}

func newLastWordRule() Oracle { return newLastWord() }

package oracle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
)

func TestOutage(t *testing.T) {
	lose := func(s *stage) {
		s.policy(1)
		s.store(s.nns("n1", true, wanted, 2))
		s.try("n1", change(gateway))
		s.run(2 * time.Minute)
		s.end("n1", RolledBack)
		s.close("n1", v1.TransactionRolledBack)
	}
	judge(t, func() Oracle { return newOutage() }, one, map[string]history{
		"once, then again after its policy had stopped selecting the node, and selects it anew": {play: func(s *stage) {
			lose(s)
			leaves(s, false)
			s.try("n1", change(gateway))
		}},
		"once, then again after the node went back": {want: "is tried again", play: func(s *stage) {
			lose(s)
			leaves(s, true)
			s.try("n1", change(gateway))
		}},
		"once": {play: lose},
		"twice": {want: "is tried again", play: func(s *stage) {
			lose(s)
			s.try("n1", change(gateway))
		}},
		"once, then another generation": {play: func(s *stage) {
			lose(s)
			next := change(gateway)
			next.Sources[0].Generation = 2
			s.try("n1", next)
		}},
		"once, then what somebody wrote over it, and left its sources": {play: func(s *stage) {
			lose(s)
			next := change(gateway)
			next.Transaction.Change.Hash = "another"
			s.try("n1", next)
		}},
		"once, then together with another policy": {want: "is tried again", play: func(s *stage) {
			lose(s)
			next := change(gateway)
			next.Transaction.Change.Hash = "another"
			next.Sources = append(next.Sources, v1.DesiredSource{Source: v1.Source{Policy: "q", Generation: 1, Hash: "q"}})
			s.try("n1", next)
		}},
		"once by what somebody wrote into the node's desired state, then the policy that it was written over": {play: func(s *stage) {
			s.wrote("kubectl", s.nns("n1", true, wanted, 2), "spec")
			lose(s)
			s.try("n1", change(gateway))
		}},
		"once by what the handler wrote after somebody": {want: "is tried again", play: func(s *stage) {
			s.wrote("kubectl", s.nns("n1", true, before, 1), "spec")
			s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "spec")
			lose(s)
			s.try("n1", change(gateway))
		}},
		"it was given up for what somebody wrote, which was put right before it had gone back": {play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
			s.try("n1", change(gateway))
			s.run(2 * time.Minute)
			for generation, desired := range []string{before, wanted} {
				s.set.Tell(Event{Node: "n1", What: Wrote{apiserver.Write{After: s.nns("n1", true, desired, int64(generation+3)), Spec: true}}})
			}
			s.end("n1", RolledBack)
			s.close("n1", v1.TransactionSuperseded)
			s.try("n1", change(gateway))
		}},
		"once, then as what another label makes of it, and again as the label was": {play: func(s *stage) {
			lose(s)
			next := change(gateway)
			next.Sources[0].Hash, next.Transaction.Change.Hash = "of another label", "another"
			s.try("n1", next)
			s.end("n1", RolledBack)
			s.close("n1", v1.TransactionRolledBack)
			s.try("n1", change(gateway))
		}},
		"the handler died in it": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "crash"})
			lose(s)
			s.try("n1", change(gateway))
		}},
	})
}

// leaves takes policy p's part out of a node's desired state.
func leaves(s *stage, selects bool) {
	if !selects {
		p := s.policy(1)
		p.Spec.NodeSelector = map[string]string{"example.com/zone": "b"}
		s.store(p)
	}
	with := s.nns("n1", true, wanted, 2)
	with.Spec.Sources = []v1.DesiredSource{{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}}
	s.set.Tell(Event{Node: "n1", What: Wrote{apiserver.Write{Process: "handler/n1", Before: with, After: s.nns("n1", true, before, 3), Spec: true}}})
	s.store(s.policy(1))
}

func TestBackoff(t *testing.T) {
	const clockBack = 20 // In this attempt the clock goes back to what it should be.
	fail := func(s *stage, times int, pause func(n int) time.Duration) {
		s.policy(1)
		for n := range times {
			entry := change()
			entry.Transaction.Change.Generation = int64(n + 1)
			s.hosts["n1"].entry = entry
			entry.Since = s.world.Now()
			s.tell("n1", JournalSaved{Entry: *entry})
			if n == clockBack {
				s.tell("n1", Fault{Kind: "clock-jump", End: true})
			}
			s.close("n1", v1.TransactionRefused)
			s.run(pause(n))
		}
	}
	// Somebody writes over what failed, which is refused, and it is put right: a newer
	// generation wants what failed, and how that ended is told again.
	toldAgain := func(s *stage, generation int64, since time.Time) {
		record := s.hosts["n1"].record
		again := *record.Last
		again.Generation, again.Since = generation, metav1.NewTime(since)
		s.tell("n1", JournalClosed{Record: journal.Record{Last: &again}})
	}
	writeOver := func(s *stage, desired string) {
		before := &v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
		after := before.DeepCopy()
		after.Spec.Managed = new(bool)
		after.Spec.DesiredState.Raw = []byte(desired)
		s.set.Tell(Event{Node: "n1", What: Wrote{apiserver.Write{Process: "people", Before: before, After: after}}})
	}
	judge(t, func() Oracle { return newBackoff() }, one, map[string]history{
		"an earlier failure is told again, of a newer generation": {play: func(s *stage) {
			began := s.world.Now()
			s.run(time.Minute)
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			toldAgain(s, 100, began)
		}},
		"an earlier failure is told again, and then it comes too soon": {want: "was tried again after", play: func(s *stage) {
			began := s.world.Now()
			s.run(time.Minute)
			fail(s, 7, func(n int) time.Duration { return time.Second << (n % 6) })
			toldAgain(s, 100, began)
			toldAgain(s, 101, s.world.Now())
		}},
		"later and later": {play: func(s *stage) { fail(s, 8, func(n int) time.Duration { return time.Second << n }) }},
		"again and again": {want: "was tried again after", play: func(s *stage) { fail(s, 8, func(int) time.Duration { return time.Second }) }},
		"its policy stopped selecting the node, which gave it up, and selects it anew": {play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			leaves(s, false)
			fail(s, 1, func(int) time.Duration { return 0 })
		}},
		"the node gave it up for another reason": {want: "was tried again after", play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << (n % 6) })
			leaves(s, true)
			fail(s, 1, func(int) time.Duration { return 0 })
		}},
		"it has left the node, and comes back": {play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			s.set.Tell(Event{Node: "n1", What: Wrote{apiserver.Write{Before: s.enacted("n1", 1, v1.EnactmentFailing)}}})
			fail(s, 3, func(int) time.Duration { return time.Second })
		}},
		"somebody writes another desired state over it": {play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			writeOver(s, `{"interfaces":[{"name":"eth1"}]}`)
			fail(s, 3, func(int) time.Duration { return time.Second })
		}},
		"somebody writes into its NodeNetworkState, and not the desired state": {want: "was tried again after", play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			writeOver(s, "")
			fail(s, 3, func(int) time.Duration { return time.Second })
		}},
		"it is told again, and comes back": {want: "was tried again after", play: func(s *stage) {
			fail(s, 7, func(n int) time.Duration { return time.Second << n })
			e := s.enacted("n1", 1, v1.EnactmentFailing)
			s.set.Tell(Event{Node: "n1", What: Wrote{apiserver.Write{Before: e, After: e}}})
			fail(s, 3, func(int) time.Duration { return time.Second })
		}},
		"the clock is wrong": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			fail(s, 8, func(int) time.Duration { return time.Second })
		}},
		"the clock was wrong when the last but one began": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			fail(s, clockBack+2, func(int) time.Duration { return time.Second })
		}},
		"the clock was wrong until the last but two": {want: "was tried again after", play: func(s *stage) {
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			fail(s, clockBack+3, func(int) time.Duration { return time.Second })
		}},
	})
}

package oracle

import (
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

var three = []string{"n1", "n2", "n3"}

func TestWriters(t *testing.T) {
	by := func(process string, o func(s *stage) (before, after any), parts, want string, central bool) history {
		return history{want: want, play: func(s *stage) {
			s.central = central
			before, after := o(s)
			if e, is := before.(*v1.NodeNetworkConfigurationEnactment); is {
				s.store(e)
				s.wrote(process, after.(*v1.NodeNetworkConfigurationEnactment), parts)
			}
			if n, is := before.(*v1.NodeNetworkState); is {
				s.store(n)
				s.wrote(process, after.(*v1.NodeNetworkState), parts)
			}
		}}
	}
	enactment := func(s *stage) (any, any) { return s.enacted("n1", 0, ""), s.enacted("n1", 1, v1.EnactmentAvailable) }
	nns := func(s *stage) (any, any) { return s.nns("n1", true, before, 1), s.nns("n1", true, wanted, 2) }
	aside := func(s *stage) (any, any) { return s.nns("n1", true, before, 1), s.nns("n1", false, before, 2) }
	judge(t, func() Oracle { return writers{} }, []string{"n1", "n2"}, map[string]history{
		"the handler tells how it fared":             by("handler/n1", enactment, "status", "", false),
		"another node's handler does":                by("handler/n2", enactment, "status", "handler/n2 (handler) wrote status", false),
		"the controllers do":                         by("controllers-1", enactment, "status", "wrote status", false),
		"the controllers do in centralized mode":     by("controllers-1", enactment, "status", "", true),
		"the handler does in centralized mode":       by("handler/n1", enactment, "status", "wrote status", true),
		"the controllers grant":                      by("controllers-1", enactment, "spec", "", false),
		"the handler grants itself":                  by("handler/n1", enactment, "spec", "wrote spec", false),
		"the handler writes what its node should be": by("handler/n1", nns, "spec", "", false),
		"the handler does in centralized mode too":   by("handler/n1", nns, "spec", "wrote spec", true),
		"the controllers report a node":              by("controllers-1", nns, "status", "wrote status", true),
		"the handler sets its node aside":            by("handler/n1", aside, "spec", "set managed", false),
		"a person sets a node aside":                 by("kubectl", aside, "spec", "", false),
	})
}

func TestUnmanaged(t *testing.T) {
	aside := func(s *stage, known bool) {
		o := s.nns("n1", false, wanted, 2)
		s.wrote("kubectl", o, "spec")
		s.set.Tell(Event{Node: "n1", What: Wrote{}})
		if known {
			s.tell("n1", Read{Like: o, Name: "n1", Object: o})
		}
		s.run(2 * time.Minute)
	}
	endsAside := func(s *stage, told v1.Transaction) {
		aside(s, true)
		s.Look(&v1.NodeNetworkState{}, "n1").(*v1.NodeNetworkState).Status.Transaction = &told
		next := saysNotManaged(s, "")
		next.Status.Transaction = &v1.Transaction{Generation: 2, Phase: "Idle", Result: v1.TransactionRolledBack}
		s.wrote("handler/n1", next, "status")
	}
	judge(t, func() Oracle { return unmanaged{} }, one, map[string]history{
		"nothing happens": {play: func(s *stage) { aside(s, true) }},
		"a change is applied": {want: "a change is applied", play: func(s *stage) {
			aside(s, true)
			s.try("n1", change())
		}},
		"a change is applied by who does not know": {play: func(s *stage) {
			aside(s, false)
			s.try("n1", change())
		}},
		"it is reported": {want: "its state is reported", play: func(s *stage) {
			aside(s, true)
			s.wrote("handler/n1", s.nns("n1", false, wanted, 2), "status")
		}},
		"that it is not managed is told": {play: func(s *stage) {
			aside(s, true)
			s.wrote("handler/n1", saysNotManaged(s, ""), "status")
		}},
		"that it is not managed is told twice": {want: "its state is reported", play: func(s *stage) {
			aside(s, true)
			s.wrote("handler/n1", saysNotManaged(s, ""), "status")
			s.wrote("handler/n1", saysNotManaged(s, ""), "status")
		}},
		"that it is not managed is told of each generation": {play: func(s *stage) {
			aside(s, true)
			s.wrote("handler/n1", saysNotManaged(s, ""), "status")
			edited := s.nns("n1", false, before, 3)
			edited.Status = saysNotManaged(s, "").Status
			s.store(edited)
			told := edited.DeepCopy()
			told.Status.Conditions[0].ObservedGeneration = 3
			s.wrote("handler/n1", told, "status")
		}},
		"that it is not managed is told, and how the change ended that was told as running": {play: func(s *stage) {
			endsAside(s, v1.Transaction{Generation: 2, Phase: "Probing"})
		}},
		"how a change ended is told that was not told as running": {want: "its state is reported", play: func(s *stage) {
			endsAside(s, v1.Transaction{Generation: 1, Phase: "Idle", Result: v1.TransactionCommitted})
		}},
		"that it is not managed is told, and that something failed": {want: "its state is reported", play: func(s *stage) {
			aside(s, true)
			s.wrote("handler/n1", saysNotManaged(s, v1.StateFailing), "status")
		}},
	})
}

// saysNotManaged is a report of a node that nobody manages, with one more condition.
func saysNotManaged(s *stage, and v1.ConditionType) *v1.NodeNetworkState {
	nns := s.nns("n1", false, wanted, 2)
	nns.Status.Conditions = []v1.Condition{{Type: v1.StateAvailable, Status: "Unknown", Reason: v1.ReasonNotManaged, ObservedGeneration: nns.Generation}}
	if and != "" {
		nns.Status.Conditions = append(nns.Status.Conditions, v1.Condition{Type: and, Status: "True"})
	}
	return nns
}

func TestLive(t *testing.T) {
	judge(t, func() Oracle { return live{} }, one, map[string]history{
		"it is wanted": {play: func(s *stage) {
			s.store(s.nns("n1", true, wanted, 2))
			s.try("n1", change())
		}},
		"it is not wanted any more": {want: "does not want", play: func(s *stage) {
			s.store(s.nns("n1", true, before, 3))
			s.try("n1", change())
		}},
		"it was wanted when it was read live": {play: func(s *stage) {
			read := s.nns("n1", true, wanted, 2)
			s.tell("n1", Read{Live: true, Like: read, Name: "n1", Object: read})
			s.store(s.nns("n1", true, before, 3))
			s.try("n1", change())
		}},
		"a policy that is another one by now is proposed": {want: "not that any more", play: func(s *stage) {
			s.policy(1).Generation = 2
			s.store(s.nns("n1", true, before, 1))
			next := s.nns("n1", true, wanted, 2)
			next.Spec.Sources = change().Sources
			s.wrote("handler/n1", next, "spec")
		}},
		"a policy is proposed": {play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, before, 1))
			next := s.nns("n1", true, wanted, 2)
			next.Spec.Sources = change().Sources
			s.wrote("handler/n1", next, "spec")
		}},
		"another turn of the controllers has read a newer one since":   {play: readByTwo(true, time.Second)},
		"the handler has read a newer one since":                       {want: "not that any more", play: readByTwo(false, time.Second)},
		"the controllers have read it long ago, and a newer one since": {want: "not that any more", play: readByTwo(true, time.Hour)},
	})
}

// readByTwo: a policy is read live, then a newer one of the name, and the first one
// is proposed.
func readByTwo(central bool, between time.Duration) func(s *stage) {
	return func(s *stage) {
		s.central = central
		first, second := s.policy(1), s.policy(1).DeepCopy()
		second.Generation = 2
		s.store(s.nns("n1", true, before, 1))
		s.tell("n1", Read{Live: true, Like: first, Name: "p", Object: first})
		s.run(between)
		s.store(second)
		s.tell("n1", Read{Live: true, Like: second, Name: "p", Object: second})
		next := s.nns("n1", true, wanted, 2)
		next.Spec.Sources = change().Sources
		s.wrote("handler/n1", next, "spec")
	}
}

func TestSuperseded(t *testing.T) {
	commits := func(s *stage, read *v1.NodeNetworkState) {
		s.try("n1", change())
		s.tell("n1", Read{Agent: true, Like: read, Name: "n1", Object: read})
		s.run(10 * time.Second)
		s.tell("n1", Committing{ID: "1"})
	}
	judge(t, func() Oracle { return superseded{} }, one, map[string]history{
		"it is wanted":                   {play: func(s *stage) { commits(s, s.nns("n1", true, wanted, 2)) }},
		"something else is wanted":       {want: "wants something else", play: func(s *stage) { commits(s, s.nns("n1", true, before, 3)) }},
		"the node is not managed":        {want: "wants something else", play: func(s *stage) { commits(s, s.nns("n1", false, wanted, 3)) }},
		"another generation of the same": {play: func(s *stage) { commits(s, s.nns("n1", true, wanted, 3)) }},
	})
}

func TestOneChange(t *testing.T) {
	two := func() []v1.DesiredSource {
		return append(change().Sources, v1.DesiredSource{Source: v1.Source{Policy: "q", Generation: 1, Hash: "q"}})
	}
	judge(t, func() Oracle { return newOneChange() }, one, map[string]history{
		"one beside what is there": {play: func(s *stage) {
			s.try("n1", change())
			s.end("n1", Committed)
			s.close("n1", v1.TransactionCommitted)
			both := change()
			both.Sources = two()
			s.try("n1", both)
		}},
		"two at once": {want: "several policies", play: func(s *stage) {
			both := change()
			both.Sources = two()
			s.try("n1", both)
		}},
	})
}

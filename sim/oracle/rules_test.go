package oracle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

var three = []string{"n1", "n2", "n3"}

func TestSlots(t *testing.T) {
	judge(t, func() Oracle { return newSlots() }, three, map[string]history{
		"one after the other": {play: func(s *stage) {
			s.policy(1)
			for _, node := range three {
				s.try(node, change())
				s.end(node, Committed)
				s.close(node, v1.TransactionCommitted)
			}
		}},
		"two at once, one is allowed": {want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			s.try("n2", change())
		}},
		"two at once, and an edit has lowered what is allowed": {play: func(s *stage) {
			s.policy(2)
			s.try("n1", change())
			s.policy(1).Generation = 2
			s.try("n2", change())
		}},
		"two that were granted and fail try again at once, when a third has left": {play: func(s *stage) {
			retryTogether(s, func() { s.wrote("kubectl", s.policy(1), "spec") })
		}},
		"two that were granted an older generation, and the newer one allows one": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1",
			play: func(s *stage) {
				retryTogether(s, func() {
					p := s.policy(1)
					p.Generation = 2
					s.wrote("kubectl", p, "spec")
				})
			},
		},
		"two that were granted an older generation begin it as the newer one comes, which allows one": {play: func(s *stage) {
			s.policy(2)
			for _, node := range three[:2] {
				s.wrote("controllers-1", s.enacted(node, 1, v1.EnactmentProgressing), "spec")
			}
			s.policy(1).Generation = 2
			s.wrote("controllers-1", s.enacted("n1", 2, v1.EnactmentProgressing), "spec") // It may be changing already.
			s.try("n1", change())
			s.try("n2", change())
		}},
		"one was refused and goes on with a newer generation, which allows one": {play: func(s *stage) { refusedAndGoesOn(s, time.Second) }},
		"one was refused long ago and begins a newer generation, which allows one": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { refusedAndGoesOn(s, 2*keepsSlot) },
		},
		"what was about to leave comes back everywhere": {play: func(s *stage) {
			s.policy(1).Generation = 3
			for _, node := range three[:2] {
				had := s.enacted(node, 1, v1.EnactmentPending)
				had.Status.Committed = &v1.CommittedPolicy{Generation: 1}
				s.store(had)
				s.try(node, change())
			}
		}},
		"a node is as before, and its disk is full": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			s.end("n1", RolledBack)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.try("n2", change())
		}},
		"a node's disk is full, and what was tried is still there": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1",
			play: func(s *stage) {
				s.policy(1)
				s.try("n1", change())
				s.end("n1", RolledBack)
				s.hosts["n1"].network = wanted
				s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
				s.try("n2", change())
			},
		},
		"a node that left the cluster in mid-trial": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			delete(s.objects, "Node/n1")
			s.try("n2", change())
		}},
		"a drift that is corrected meanwhile": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			correction := change()
			correction.Correction = []string{"interfaces[eth1]"}
			s.try("n2", correction)
		}},
	})
}

// retryTogether has two nodes granted and failing; what lowers the limit happens,
// and they try again.
func retryTogether(s *stage, lower func()) {
	s.policy(2)
	for _, node := range three[:2] {
		s.wrote("controllers-1", s.enacted(node, 1, v1.EnactmentProgressing), "spec")
		s.try(node, change())
		s.end(node, RolledBack)
		s.close(node, v1.TransactionRolledBack)
	}
	lower()
	s.run(2 * keepsSlot)
	for _, node := range three[:2] {
		again := change()
		again.Sources[0].Generation = s.Look(&v1.NodeNetworkConfigurationPolicy{}, "p").GetGeneration()
		s.try(node, again)
	}
}

// refusedAndGoesOn has a node changing under an edit that lets another one begin,
// which is refused, and under one that lets a single one.
func refusedAndGoesOn(s *stage, after time.Duration) {
	s.policy(1)
	s.wrote("controllers-1", s.enacted("n1", 1, v1.EnactmentProgressing), "spec")
	s.try("n1", change())
	s.policy(2).Generation = 2
	s.wrote("controllers-1", s.enacted("n2", 2, v1.EnactmentProgressing), "spec")
	refused, next := change(), change()
	refused.Sources[0].Generation, next.Sources[0].Generation = 2, 3
	s.hosts["n2"].entry = refused
	s.close("n2", v1.TransactionRefused)
	s.policy(1).Generation = 3
	s.run(after)
	s.wrote("controllers-1", s.enacted("n2", 3, v1.EnactmentProgressing), "spec")
	s.try("n2", next)
}

func TestBlast(t *testing.T) {
	fail := func(s *stage, node string) {
		s.try(node, change())
		s.end(node, RolledBack)
		s.close(node, v1.TransactionRolledBack)
	}
	judge(t, func() Oracle { return newBlast() }, three, map[string]history{
		"it fails where it was begun": {play: func(s *stage) {
			s.policy(1)
			fail(s, "n1")
			fail(s, "n1")
		}},
		"it goes on to the next": {want: "is not committed on 2 nodes", play: func(s *stage) {
			s.policy(1)
			fail(s, "n1")
			fail(s, "n2")
		}},
		"another generation begins anew": {play: func(s *stage) {
			s.policy(1)
			fail(s, "n1")
			s.policy(1).Generation = 2
			fail(s, "n2")
		}},
	})
}

func TestGrant(t *testing.T) {
	judge(t, func() Oracle { return newGrant() }, one, map[string]history{
		"what was granted is applied": {play: func(s *stage) {
			s.policy(1)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
			s.try("n1", change())
		}},
		"what was not granted is applied": {want: "not granted", play: func(s *stage) {
			s.policy(1)
			s.wrote("controllers-1", s.enacted("n1", 0, ""), "spec")
			s.try("n1", change())
		}},
		"what was aborted is applied": {want: "aborted", play: func(s *stage) {
			s.policy(1)
			e := s.enacted("n1", 0, "")
			e.Spec.AbortedGeneration = 1
			s.wrote("controllers-1", e, "spec")
			s.try("n1", change())
		}},
		"a node that has not matched for long": {want: "not selected for", play: func(s *stage) {
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
			s.run(time.Minute)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
		}},
		"a node that matched a moment ago": {play: func(s *stage) {
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
			s.run(time.Minute)
			s.wrote("outside", &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, "meta")
			s.run(time.Second)
			s.wrote("controllers-1", s.enacted("n1", 1, ""), "spec")
		}},
	})
}

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

func TestQuiet(t *testing.T) {
	quiet := func(s *stage, happen func()) {
		s.store(s.nns("n1", true, wanted, 2))
		s.tell("n1", Quiet{})
		s.run(time.Minute)
		happen()
		s.tell("n1", Quiet{Over: true})
	}
	judge(t, func() Oracle { return newQuiet() }, one, map[string]history{
		"nothing happens": {play: func(s *stage) { quiet(s, func() {}) }},
		"a status is written": {want: "nothing has happened", play: func(s *stage) {
			quiet(s, func() { s.wrote("handler/n1", s.nns("n1", true, wanted, 2), "status") })
		}},
		"a status is written with another time only": {want: "nothing of it is new", play: func(s *stage) {
			s.store(s.enacted("n1", 1, v1.EnactmentAvailable))
			next := s.enacted("n1", 1, v1.EnactmentAvailable)
			next.Status.Conditions[0].LastHeartbeatTime = metav1.Now()
			s.wrote("handler/n1", next, "status")
		}},
		"a person writes": {play: func(s *stage) {
			quiet(s, func() { s.wrote("kubectl", s.nns("n1", true, wanted, 2), "status") })
		}},
		"the host changes": {want: "network has changed", play: func(s *stage) {
			quiet(s, func() { s.hosts["n1"].revision++ })
		}},
		"something is tried again": {play: func(s *stage) {
			e := s.enacted("n1", 1, v1.EnactmentFailing)
			e.Status.Retry = &v1.EnactmentRetry{Attempts: 3, After: &metav1.Time{}}
			s.store(e)
			quiet(s, func() { s.hosts["n1"].revision++ })
		}},
	})
}

func TestLiveness(t *testing.T) {
	told := func(s *stage, is v1.ConditionType, counts v1.PolicyCounts) {
		p := s.policy(1)
		p.Status.ObservedGeneration, p.Status.Counts = 1, counts
		s.store(s.nns("n1", true, wanted, 2))
		s.store(s.enacted("n1", 1, is))
	}
	judge(t, func() Oracle { return liveness{} }, one, map[string]history{
		"all is told":         {play: func(s *stage) { told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1}) }},
		"a failure is told":   {play: func(s *stage) { told(s, v1.EnactmentFailing, v1.PolicyCounts{Matched: 1, Failing: 1}) }},
		"a node says nothing": {want: "node n1 is not done", play: func(s *stage) { told(s, "", v1.PolicyCounts{Matched: 1}) }},
		"a node has no enactment": {want: "no enactment", play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
		}},
		"the policy says something else": {want: "its status counts", play: func(s *stage) {
			told(s, v1.EnactmentFailing, v1.PolicyCounts{Matched: 1, Available: 1})
		}},
		"a transaction is open": {want: "is open", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
			s.hosts["n1"].entry = change()
		}},
		"a node lacks something since its clock jumped": {want: "lacks something", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{Matched: 1, Available: 1})
			s.tell("n1", Fault{Kind: "clock-jump", On: true})
			s.tell("n1", Fault{Kind: "clock-jump", End: true})
		}},
		"the policy has left the node": {want: "does not select", play: func(s *stage) {
			told(s, v1.EnactmentAvailable, v1.PolicyCounts{})
			s.policy(1).Spec.NodeSelector = map[string]string{"nobody": "has"}
		}},
	})
}

// A node that was cut off in the middle of an older generation.
func TestLivenessOfWhoWaitsForANodeOutOfReach(t *testing.T) {
	waits := func(s *stage, cut bool) {
		s.store(s.nns("n1", true, wanted, 2))
		s.store(s.nns("n2", true, wanted, 2))
		s.store(s.enacted("n2", 1, v1.EnactmentProgressing))
		s.hosts["n2"].cut = cut
		s.store(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1"},
			Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		})
		p := s.policy(1)
		p.Generation, p.Status.ObservedGeneration = 2, 2
		pending := s.enacted("n1", 0, v1.EnactmentPending)
		pending.Status.PolicyGeneration = 2
		s.store(pending)
	}
	judge(t, func() Oracle { return liveness{} }, three[:2], map[string]history{
		"it has the only slot":        {play: func(s *stage) { waits(s, true) }},
		"it is in reach, and goes on": {want: "node n1 is not done", play: func(s *stage) { waits(s, false) }},
		"it begins no more, since a policy takes its place": {play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentPending))
		}},
		"it has failed, so it has no slot of the newer one": {want: "node n1 is not done", play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentFailing))
		}},
		"the rollout is paused after its canary, and another node fails": {play: func(s *stage) {
			waits(s, true)
			s.store(s.enacted("n2", 1, v1.EnactmentFailing))
			p, canary := s.policy(1), int32(1)
			p.Generation, p.Status.ObservedGeneration, p.Status.Counts = 2, 2, v1.PolicyCounts{Available: 1}
			p.Spec.Rollout = &v1.Rollout{Canary: &canary, PauseAfterCanary: true}
			p.Status.Conditions = []v1.Condition{{Type: v1.PolicyDegraded, Status: metav1.ConditionTrue}}
		}},
		"it was told to wait, and cannot say so": {play: func(s *stage) {
			waits(s, true)
			aborted := s.enacted("n2", 1, v1.EnactmentAborted)
			aborted.Status.PolicyGeneration = 2
			s.store(aborted)
			done := s.enacted("n1", 2, v1.EnactmentAvailable)
			done.Status.PolicyGeneration = 2
			s.store(done)
			p := s.policy(1)
			p.Generation, p.Status.ObservedGeneration, p.Status.Counts = 2, 2, v1.PolicyCounts{Available: 1}
		}},
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
	})
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
		"the handler died in it": {play: func(s *stage) {
			s.tell("n1", Fault{Kind: "crash"})
			lose(s)
			s.try("n1", change(gateway))
		}},
	})
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
	judge(t, func() Oracle { return newBackoff() }, one, map[string]history{
		"later and later": {play: func(s *stage) { fail(s, 8, func(n int) time.Duration { return time.Second << n }) }},
		"again and again": {want: "was tried again after", play: func(s *stage) { fail(s, 8, func(int) time.Duration { return time.Second }) }},
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

package oracle

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
)

func TestSlots(t *testing.T) {
	gaveWay := func(s *stage) {
		s.policy(1)
		for _, node := range three[:2] {
			had := s.enacted(node, 1, v1.EnactmentPending)
			had.Status.Committed = &v1.CommittedPolicy{Generation: 1}
			s.store(had)
			s.try(node, change())
			s.end(node, RolledBack)
			s.close(node, v1.TransactionRolledBack)
			s.store(s.enacted(node, 1, v1.EnactmentFailing))
		}
	}
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
		"one is granted a newer generation, which allows one, while it changes, and fails": {play: func(s *stage) { grantedAsItChanges(s, true) }},
		"one is granted a newer generation, which allows one, once it has changed": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { grantedAsItChanges(s, false) },
		},
		"one was refused and goes on with a newer generation, which allows one": {play: func(s *stage) { refusedAndGoesOn(s, v1.TransactionRefused, time.Second) }},
		"one was superseded before it had a checkpoint, and goes on with a newer generation, which allows one": {
			play: func(s *stage) { refusedAndGoesOn(s, v1.TransactionSuperseded, time.Second) },
		},
		"one was committed, and begins a newer generation, which allows one": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1",
			play: func(s *stage) { refusedAndGoesOn(s, v1.TransactionCommitted, time.Second) },
		},
		"one was refused long ago and begins a newer generation, which allows one": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { refusedAndGoesOn(s, v1.TransactionRefused, 2*keepsSlot) },
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
		"what gave way comes back everywhere, in vain, and is tried again with the grants that the nodes have": {play: func(s *stage) {
			gaveWay(s)
			s.try("n1", change())
			s.try("n2", change())
		}},
		"the same where one has been granted anew": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1",
			play: func(s *stage) {
				gaveWay(s)
				for _, node := range three[:2] {
					s.wrote("controllers", s.enacted(node, 1, v1.EnactmentPending), "spec")
					s.try(node, change())
				}
			},
		},
		"a node is as before, and its disk is full": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			s.end("n1", RolledBack)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.try("n2", change())
		}},
		"NetworkManager restarted, the handler took back what was tried, and the disk is full": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			s.end("n1", Lost)
			s.hosts["n1"].network = before
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.try("n2", change())
		}},
		"NetworkManager restarted, and what was tried is still there": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1",
			play: func(s *stage) {
				s.policy(1)
				s.try("n1", change())
				s.end("n1", Lost)
				s.hosts["n1"].network = wanted
				s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
				s.try("n2", change())
			},
		},
		"a node whose disk is full lost its power after what it tried was taken back": {play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
			s.try("n1", change())
			s.end("n1", RolledBack)
			s.set.Tell(Event{Node: "n1", What: Fault{Kind: "disk-full", On: true}})
			s.hosts["n1"].off, s.hosts["n1"].network = true, "{}"
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
		"a node that nobody manages lost its power in mid-trial": {play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", false, wanted, 2))
			s.try("n1", change())
			s.hosts["n1"].off = true
			s.try("n2", change())
		}},
		"a node that has told that it began, and that nobody manages, lost its power in mid-trial": {want: "2 nodes are changing", play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", false, wanted, 2))
			s.store(s.enacted("n1", 1, v1.EnactmentProgressing))
			s.try("n1", change())
			s.hosts["n1"].off = true
			s.try("n2", change())
		}},
		"a node that is managed lost its power in mid-trial": {want: "2 nodes are changing", play: func(s *stage) {
			s.policy(1)
			s.store(s.nns("n1", true, wanted, 2))
			s.try("n1", change())
			s.hosts["n1"].off = true
			s.try("n2", change())
		}},
		"a node that left the cluster in mid-trial": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			delete(s.objects, "Node/n1")
			s.try("n2", change())
		}},
		"half of three, and the third has left just now": {play: func(s *stage) { halfOfThree(s, time.Second, false) }},
		"half of three, and the third has left some time ago": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { halfOfThree(s, 2*grantLag, false) },
		},
		"half of three, and the third has left some time ago, as controllers came up with what was": {
			play: func(s *stage) { halfOfThree(s, 2*grantLag, true) },
		},
		"half of three, and a label of the third has moved just now": {play: func(s *stage) { halfOfTheLabelled(s, "a", time.Second, false) }},
		"half of two, and a label of a third that was not selected has moved just now": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { halfOfTheLabelled(s, "c", time.Second, false) },
		},
		"half of three, and a label of the third moved before stale reads": {play: func(s *stage) { halfOfTheLabelled(s, "a", 2*grantLag, true) }},
		"half of three, and a label of the third moved some time ago": {
			want: "2 nodes are changing (n1, n2), and maxUnavailable allows 1", play: func(s *stage) { halfOfTheLabelled(s, "a", 2*grantLag, false) },
		},
		"a drift that is corrected meanwhile": {play: func(s *stage) {
			s.policy(1)
			s.try("n1", change())
			correction := change()
			correction.Correction = []string{"interfaces[eth1]"}
			s.try("n2", correction)
		}},
	})
}

// halfOfThree has a node leave; then two are granted and begin.
func halfOfThree(s *stage, later time.Duration, stale bool) {
	s.policy(0).Spec.MaxUnavailable = nil
	gone := s.objects["Node/n3"]
	delete(s.objects, "Node/n3")
	s.set.Tell(Event{What: Wrote{apiserver.Write{Verb: "delete", Kind: "Node", Name: "n3", Before: gone, Spec: true}}})
	if stale {
		s.set.Tell(Event{Node: Controllers, What: Fault{Kind: "time-travel"}})
	}
	s.run(later)
	for _, node := range three[:2] {
		s.wrote("controllers-1", s.enacted(node, 1, v1.EnactmentProgressing), "spec")
		s.try(node, change())
	}
}

// halfOfTheLabelled has a node go from a zone to another one that a policy does not
// select; then the two of zone a, which it selects, are granted and begin.
func halfOfTheLabelled(s *stage, from string, later time.Duration, stale bool) {
	p := s.policy(0)
	p.Spec.MaxUnavailable, p.Spec.NodeSelector = nil, map[string]string{"zone": "a"}
	for _, node := range three {
		s.objects["Node/"+node].SetLabels(map[string]string{"zone": "a"})
	}
	before := s.objects["Node/n3"].DeepCopyObject().(client.Object)
	before.SetLabels(map[string]string{"zone": from})
	s.objects["Node/n3"].SetLabels(map[string]string{"zone": "b"})
	s.set.Tell(Event{What: Wrote{apiserver.Write{Verb: "patch", Kind: "Node", Name: "n3", Before: before, After: s.objects["Node/n3"], Metadata: true}}})
	if stale {
		s.set.Tell(Event{Node: Controllers, What: Fault{Kind: "stale-reads", On: true}})
	}
	s.run(later)
	for _, node := range three[:2] {
		s.wrote("controllers-1", s.enacted(node, 1, v1.EnactmentProgressing), "spec")
		s.try(node, change())
	}
}

// grantedAsItChanges has a node changing under an edit that lets another one change, too; that one
// is granted a newer generation, which lets a single one, before or after it has ended.
func grantedAsItChanges(s *stage, before bool) {
	s.policy(1)
	s.wrote("controllers-1", s.enacted("n1", 1, v1.EnactmentProgressing), "spec")
	s.try("n1", change())
	s.policy(2).Generation = 2
	s.wrote("controllers-1", s.enacted("n2", 2, v1.EnactmentProgressing), "spec")
	second, third := change(), change()
	second.Sources[0].Generation, third.Sources[0].Generation = 2, 3
	s.try("n2", second)
	s.policy(1).Generation = 3
	granted := func() { s.wrote("controllers-1", s.enacted("n2", 3, v1.EnactmentProgressing), "spec") }
	if before {
		granted()
	}
	s.end("n2", Committed)
	s.close("n2", v1.TransactionCommitted)
	s.run(2 * keepsSlot)
	if !before {
		granted()
	}
	s.try("n2", third)
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
// which is refused or superseded, and under one that lets a single one.
func refusedAndGoesOn(s *stage, how v1.TransactionResult, after time.Duration) {
	s.policy(1)
	s.wrote("controllers-1", s.enacted("n1", 1, v1.EnactmentProgressing), "spec")
	s.try("n1", change())
	s.policy(2).Generation = 2
	s.wrote("controllers-1", s.enacted("n2", 2, v1.EnactmentProgressing), "spec")
	refused, next := change(), change()
	refused.Sources[0].Generation, next.Sources[0].Generation = 2, 3
	s.hosts["n2"].entry = refused
	s.close("n2", how)
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
		"two were granted when two were allowed, and a node left since": {play: func(s *stage) {
			s.policy(2)
			for _, node := range three[:2] {
				s.wrote("controllers-1", s.enacted(node, 1, v1.EnactmentPending), "spec")
			}
			s.policy(1)
			fail(s, "n1")
			fail(s, "n2")
		}},
		"one was granted when one is allowed, and two are begun": {want: "is not committed on 2 nodes", play: func(s *stage) {
			s.policy(1)
			s.wrote("controllers-1", s.enacted("n1", 1, v1.EnactmentPending), "spec")
			fail(s, "n1")
			fail(s, "n2")
		}},
		"the next one is granted while the first does not match, which comes back": {play: func(s *stage) {
			s.policy(1)
			fail(s, "n1")
			n1 := s.objects["Node/n1"]
			delete(s.objects, "Node/n1")
			s.wrote("controllers-1", s.enacted("n2", 1, v1.EnactmentPending), "spec")
			s.objects["Node/n1"] = n1
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

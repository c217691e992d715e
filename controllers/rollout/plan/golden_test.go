package plan

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"gotest.tools/v3/golden"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Every transcript in testdata tells a rollout step by step: read it like a
// log. To see what a change of Plan does to it: make golden, git diff.
func TestTranscripts(t *testing.T) {
	three := []string{"node1", "node2", "node3"}
	turns := func(w *world, nodes ...string) {
		for _, node := range nodes {
			before := w.host(node).open
			w.turn(node)
			if now := w.host(node).open; now != 0 && now != before {
				w.turn(node) // tells that it has begun
			}
		}
	}
	tests := map[string]func(w *world){
		"a regular rollout of 3 nodes at 50%": func(w *world) {
			w.plan()
			turns(w, three...)
			w.plan()
			turns(w, three...)
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node1", "node3")
			w.plan()
			turns(w, "node3")
			w.plan()
			w.plan()
		},
		"a bad policy aborts the rest": func(w *world) {
			w.fails = func(node string, _ int64, _ int) bool { return true }
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2", "node3", "node1")
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node3")
			w.plan()
		},
		"a retry succeeds and the aborted node gets its turn": func(w *world) {
			w.fails = func(_ string, _ int64, try int) bool { return try == 0 }
			w.retries = true
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2", "node1", "node2")
			w.plan()
			turns(w, "node3", "node1", "node1")
			w.plan()
			turns(w, "node3")
		},
		"an edit in mid-rollout": func(w *world) {
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node1", "node2")
			w.plan()
			w.edit()
			w.plan()
			turns(w, "node2", "node2", "node2")
			w.plan()
			turns(w, "node1", "node2", "node3")
			w.plan()
			turns(w, "node3", "node3", "node1", "node1", "node3", "node3")
			w.plan()
		},
		"a node is deleted in mid-rollout": func(w *world) {
			turns(w, three...)
			w.plan()
			turns(w, "node1", "node2")
			w.remove("node1")
			w.plan()
			turns(w, "node2")
			w.plan()
			turns(w, "node3", "node3")
			w.plan()
		},
		"a node is not Ready": func(w *world) {
			w.say("node2 is not Ready")
			w.host("node2").Ready = false
			turns(w, "node1", "node3")
			w.plan()
			turns(w, "node1", "node1", "node3", "node3")
			w.plan()
			w.say("node2 is Ready")
			w.host("node2").Ready = true
			turns(w, "node2")
			w.plan()
			turns(w, "node2")
			w.say("node2 is not Ready, since the change has cut it off for a moment")
			w.host("node2").Ready = false
			w.plan()
			turns(w, "node2")
			w.plan()
			w.say("node2 is Ready")
			w.host("node2").Ready = true
			w.plan()
		},
	}
	maps.Copy(tests, stepByStep(turns))
	maps.Copy(tests, withoutAnswer(turns))
	for name, play := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld("50%", three...)
			w.say("the policy is created: generation 1, maxUnavailable 50%%; 3 nodes match")
			play(w)
			golden.Assert(t, w.log.String(), name+".golden")
		})
	}
}

// stepByStep are the rollouts with rules of spec.rollout, variables and plans.
func stepByStep(turns func(*world, ...string)) map[string]func(*world) {
	const one, two, last = "node1", "node2", "node3"
	// begins lets all nodes be planned, and those that were granted begin.
	begins := func(w *world, nodes ...string) {
		turns(w, one, two, last)
		w.plan()
		turns(w, nodes...)
	}
	rollout := func(w *world, rule string, rollout v1.Rollout) {
		w.say("spec.rollout: %s", rule)
		w.policy.Spec.Rollout = &rollout
	}
	// sameState: the edits to come change nothing on the nodes.
	sameState := func(w *world) { w.content = func(string, int64) string { return "state 1" } }
	return map[string]func(*world){
		"a canary, a pause, and on it goes": func(w *world) {
			sameState(w)
			rollout(w, "canary 1, pauseAfterCanary", v1.Rollout{Canary: new(int32(1)), PauseAfterCanary: true})
			begins(w, one)
			w.plan()
			turns(w, one)
			w.plan()
			turns(w, two, last)
			w.edit()
			rollout(w, "canary 1", v1.Rollout{Canary: new(int32(1))})
			w.plan()
			turns(w, one, two, last)
			w.plan()
			turns(w, one, two, two, last)
			w.plan()
			turns(w, last)
			w.plan()
		},
		"a canary fails, and an edit mends it": func(w *world) {
			w.fails = func(_ string, generation int64, _ int) bool { return generation == 1 }
			rollout(w, "canary 1", v1.Rollout{Canary: new(int32(1))})
			begins(w, one, one)
			w.plan()
			turns(w, two, last)
			w.edit()
			w.plan()
			turns(w, one, one)
			w.plan()
		},
		"a canary node is not Ready after the change": func(w *world) {
			rollout(w, "canary 1", v1.Rollout{Canary: new(int32(1))})
			begins(w, one, one)
			w.say("node1 is not Ready")
			w.host(one).Ready = false
			w.plan()
			w.say("node1 is deleted for good")
			w.remove(one)
			w.plan()
		},
		"nodes soak": func(w *world) {
			rollout(w, "soakSeconds 30", v1.Rollout{SoakSeconds: 30})
			begins(w, one, one)
			w.plan()
			turns(w, two)
			w.plan()
			w.say("30 s go by")
			w.now = w.now.Add(30 * time.Second)
			w.plan()
			turns(w, last, last)
			w.plan()
		},
		"paused in mid-rollout": func(w *world) {
			sameState(w)
			begins(w, one, one)
			w.edit()
			rollout(w, "paused", v1.Rollout{Paused: true})
			w.plan()
			turns(w, one, two, last, two)
			w.plan()
			turns(w, one, two, last)
			w.plan()
			w.edit()
			w.say("spec.rollout is removed")
			w.policy.Spec.Rollout = nil
			turns(w, one, two, last)
			w.plan()
			turns(w, one, two, two, last, last)
			w.plan()
		},
		"an edit changes one node only": func(w *world) {
			w.content = func(node string, generation int64) string {
				return fmt.Sprint("state ", map[bool]int64{true: generation, false: 1}[node == last])
			}
			begins(w, one, one, two, two)
			w.plan()
			turns(w, last, last)
			w.plan()
			w.edit()
			w.plan()
			turns(w, one, two, last)
			w.plan()
			turns(w, one, two, last, last)
			w.plan()
		},
		"a variable changes on all nodes": func(w *world) {
			begins(w, one, one, two, two)
			w.plan()
			turns(w, last, last)
			w.plan()
			for _, h := range w.hosts {
				h.variable++
			}
			w.say("the variable of all nodes changes")
			turns(w, one)
			w.plan()
			turns(w, two, last)
			w.plan()
			turns(w, one, one)
			w.plan()
			turns(w, last, last, two, two)
			w.plan()
		},
		"plan before apply": func(w *world) {
			sameState(w)
			w.policy.Spec.Mode = modePlan
			w.say("spec.mode: Plan")
			turns(w, one, two, last, one)
			w.plan()
			turns(w, two, last)
			w.plan()
			w.edit()
			w.policy.Spec.Mode = ""
			w.say("spec.mode is removed")
			w.plan()
			turns(w, one, one)
			w.plan()
		},
	}
}

// withoutAnswer are the rollouts over nodes that cannot answer.
func withoutAnswer(turns func(*world, ...string)) map[string]func(*world) {
	const one, two, last = "node1", "node2", "node3"
	dies := func(w *world, nodes ...string) {
		for _, node := range nodes {
			w.say("%s dies", node)
			w.ready(node, false)
		}
	}
	pass := func(w *world, span time.Duration) {
		w.say("%v go by", span)
		w.now = w.now.Add(span)
	}
	oneByOne := func(w *world) {
		w.say("spec.maxUnavailable: 1")
		w.policy.Spec.MaxUnavailable = new(intstr.FromInt32(1))
	}
	return map[string]func(*world){
		"a node dies in the middle of it and returns": func(w *world) {
			oneByOne(w)
			turns(w, one, two, last)
			w.plan()
			turns(w, one)
			dies(w, one)
			w.plan()
			pass(w, DefaultGrace)
			w.plan()
			turns(w, two, two)
			w.plan()
			turns(w, last, last)
			w.plan()
			w.say("node1 is Ready again")
			w.ready(one, true)
			w.plan()
			turns(w, one)
			w.plan()
		},
		"two nodes die in the middle of it": func(w *world) {
			oneByOne(w)
			turns(w, one, two, last)
			w.plan()
			turns(w, one)
			dies(w, one)
			pass(w, DefaultGrace)
			w.plan()
			turns(w, two)
			dies(w, two)
			pass(w, DefaultGrace)
			w.plan()
			turns(w, last)
			w.say("node2 is Ready again")
			w.ready(two, true)
			turns(w, two)
			w.plan()
			turns(w, last)
		},
		"a handler dies in the middle of it and comes back": func(w *world) {
			oneByOne(w)
			turns(w, one, two, last)
			w.plan()
			turns(w, one)
			w.say("the handler of node1 ends and is not started again; the node stays Ready")
			w.host(one).silentSince = w.now
			w.plan()
			pass(w, DefaultGrace)
			w.plan()
			turns(w, one, two, two)
			w.plan()
			w.say("it is started again")
			w.host(one).silentSince = time.Time{}
			w.plan()
			turns(w, one)
			w.plan()
		},
		"a handler that never comes": func(w *world) {
			w.say("node3 has no handler")
			w.host(last).Unreported, w.host(last).Created = true, w.now
			turns(w, one, two)
			w.plan()
			turns(w, one, one, two, two)
			w.plan()
			pass(w, DefaultGrace)
			w.plan()
			w.edit()
			turns(w, one, two)
			w.plan()
			turns(w, one, one, two, two)
			w.plan()
			w.say("node3 has a handler")
			w.host(last).Unreported = false
			turns(w, last)
			w.plan()
			turns(w, last, last)
			w.plan()
		},
	}
}

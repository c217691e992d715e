package fault

import (
	"math/rand/v2"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// apiPort is what calls of the API server are called by.
const apiPort = "api"

// slowest is longer than any caller waits for the API server.
const slowest = 90 * time.Second

func apiKinds() []Kind {
	return []Kind{
		{
			Name: "stale-reads", On: OnProcess, Least: 5 * time.Second, Most: 10 * time.Minute,
			Args:  []string{"1s", "5s", "30s", "2m0s"},
			Doc:   "the process's caches are behind the API server",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.Lag(f.Target, f.duration()) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.Lag(f.Target, 0) },
		},
		{
			Name: "events-lost", On: OnProcess, Least: 5 * time.Second, Most: 5 * time.Minute,
			Doc:   "watches break and go on, or list anew, so that what happened meanwhile comes late, merged or not at all",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.LoseEvents(f.Target, true, r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.LoseEvents(f.Target, false, r) },
		},
		{
			Name: "reply-lost", On: OnProcess, Least: time.Second, Most: 5 * time.Minute, Rate: 0.5,
			Doc:     "a request is carried out and its reply lost: an ambiguous write",
			verdict: onAPI(func(*active) world.Verdict { return world.Verdict{Lose: true} }),
		},
		{
			Name: "api-errors", On: OnProcess, Least: time.Second, Most: 5 * time.Minute, Args: []string{"429", "500", "503"},
			Doc:   "the API server answers with an error of its own",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.Answer(f.Target, f.number(), 0.1+0.8*r.Float64(), r) },
			end:   func(e Effects, f Fault, r *rand.Rand) { e.Answer(f.Target, 0, 0, r) },
		},
		{
			Name: "api-refused", On: OnProcess, Least: time.Second, Most: 5 * time.Minute, Rate: 0.7,
			Doc:     "a request does not get there: the connection is refused",
			verdict: onAPI(func(*active) world.Verdict { return world.Verdict{Fail: true} }),
		},
		{
			Name: "api-timeout", On: OnProcess, Least: 5 * time.Second, Most: 3 * time.Minute, Rate: 0.5,
			Doc: "a request is on its way for longer than anybody waits; it may arrive, late",
			verdict: onAPI(func(a *active) world.Verdict {
				return world.Verdict{Before: drawn(a.rand, 5*time.Second, slowest), Fail: a.rand.IntN(2) == 0}
			}),
		},
		{
			Name: "api-slow", On: OnProcess, Least: 5 * time.Second, Most: 10 * time.Minute, Rate: 1,
			Doc: "requests take up to seconds, so that others get ahead of them",
			verdict: onAPI(func(a *active) world.Verdict {
				return world.Verdict{Before: drawn(a.rand, 0, 2*time.Second), After: drawn(a.rand, 0, 2*time.Second)}
			}),
		},
		{
			Name: "conflict-storm", On: OnNode, Least: time.Second, Most: 2 * time.Minute, Rate: 0.7,
			Doc: "somebody else keeps changing the node's objects, so that writes on what was read conflict (409)",
			// The object changes while the write is on its way.
			verdict: func(a *active, call world.Call) world.Verdict {
				if call.Port != apiPort || !writes(call.Verb) {
					return world.Verdict{}
				}
				a.effects.Touch(a.fault.Target)
				return world.Verdict{Before: time.Millisecond}
			},
		},
	}
}

// onAPI hits requests only.
func onAPI(verdict func(a *active) world.Verdict) func(*active, world.Call) world.Verdict {
	return func(a *active, call world.Call) world.Verdict {
		if call.Port != apiPort {
			return world.Verdict{}
		}
		return verdict(a)
	}
}

func writes(verb string) bool {
	switch verb {
	case "create", "update", "patch", "delete":
		return true
	}
	return false
}

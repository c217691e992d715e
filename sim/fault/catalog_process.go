package fault

import (
	"math/rand/v2"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// longDown is the longest that a process stays away after a crash.
const longDown = 90 * time.Second

func processKinds() []Kind {
	return []Kind{
		{
			Name: "crash-at-call", On: OnProcess, Least: time.Second, Most: 5 * time.Minute, Rate: 0.1,
			Doc: "the process dies at a port call, just before it or just after its effect",
			verdict: func(a *active, _ world.Call) world.Verdict {
				if a.rand.IntN(2) == 0 {
					return world.Verdict{CrashBefore: true}
				}
				return world.Verdict{CrashAfter: true}
			},
		},
		{
			Name: "crash", On: OnProcess, Doc: "the process is killed, and comes back soon or late",
			begin: func(e Effects, f Fault, r *rand.Rand) { e.Crash(f.Target, drawn(r, 0, longDown)) },
		},
		{
			Name: "handler-gone", Lean: true, On: OnNode, Least: 8 * time.Minute, Most: 20 * time.Minute,
			Doc:   "the handler ends and is not started again for long, on a node that stays Ready",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.KeepAway(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.KeepAway(f.Target, false) },
		},
		{
			Name: "time-travel", On: OnProcess,
			Doc: "after a restart the process lists from an API server that is behind",
			begin: func(e Effects, f Fault, r *rand.Rand) {
				e.Rewind(f.Target, drawn(r, time.Second, 5*time.Minute), drawn(r, 0, 10*time.Second))
			},
		},
		{
			Name: "two-handlers", On: OnHandler, Least: time.Second, Most: 2 * time.Minute,
			Doc:   "a new handler starts while the old one still runs, as in a DaemonSet's update",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.Overlap(f.Target, true) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.Overlap(f.Target, false) },
		},
		{
			Name: "leader-change", On: OnCluster, Doc: "another instance of the controllers becomes the leader",
			begin: func(e Effects, _ Fault, r *rand.Rand) { e.ChangeLeader(r) },
		},
		{
			Name: "clock-jump", On: OnProcess, Least: time.Minute, Most: 20 * time.Minute,
			Args:  []string{"-2h0m0s", "-5m0s", "-31s", "-2s", "2s", "31s", "5m0s", "2h0m0s"},
			Doc:   "the process's wall clock jumps, and back",
			begin: func(e Effects, f Fault, _ *rand.Rand) { e.Skew(f.Target, f.duration()) },
			end:   func(e Effects, f Fault, _ *rand.Rand) { e.Skew(f.Target, 0) },
		},
	}
}

package fault

import (
	"math/rand/v2"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// latencies are how long calls take where no fault is at work: long enough that
// processes overlap in every order, drawn anew for each run.
type latencies struct {
	rand *rand.Rand
	// most of each way of a request.
	most time.Duration
}

func newLatencies(r *rand.Rand) *latencies {
	return &latencies{rand: r, most: magnitude(r, time.Millisecond, 50*time.Millisecond)}
}

func (l *latencies) of(call world.Call) world.Verdict {
	switch call.Port {
	case apiPort:
		return world.Verdict{Before: l.upTo(l.most), After: l.upTo(l.most)}
	case backendPort:
		return world.Verdict{Before: l.upTo(20 * time.Millisecond), After: l.upTo(20 * time.Millisecond)}
	}
	// The journal's fsync, a helper's start.
	return world.Verdict{Before: l.upTo(2 * time.Millisecond)}
}

func (l *latencies) upTo(most time.Duration) time.Duration {
	return time.Duration(l.rand.Int64N(int64(most)) + 1)
}

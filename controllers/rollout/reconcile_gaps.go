package rollout

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// Clock is the time of this process.
type Clock interface {
	clock.PassiveClock
	// Running grows as time goes by, whatever the wall clock is set to. Only its
	// differences mean anything.
	Running() time.Duration
}

// NewClock counts from now on by wall. The machine's own clock follows Go's monotonic one
// in its differences, so setting it changes nothing.
func NewClock(wall clock.PassiveClock) Clock { return running{wall, wall.Now()} }

type running struct {
	clock.PassiveClock
	began time.Time
}

// Running implements Clock.
func (r running) Running() time.Duration { return r.Since(r.began) }

// gaps remembers since when nodes have not been Ready, as this process saw it. The time
// in a node's condition is that of another machine: with a clock that is two hours
// ahead, a node that has just left would count as long dead, and its slot would be
// given away while it changes. (The node controller of Kubernetes counts like this too.)
type gaps struct {
	mu    sync.Mutex
	since map[string]gap
}

// gap is a time in which a node is not Ready.
type gap struct {
	transition time.Time
	began      time.Duration // in the run of this process
}

// observe takes in all nodes as they are now, and tells for how long those that are not
// Ready have been seen so.
func (g *gaps) observe(nodes []corev1.Node, running time.Duration) map[string]time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	since, lasted := map[string]gap{}, map[string]time.Duration{}
	for i := range nodes {
		node := &nodes[i]
		if isReady(node) {
			continue
		}
		seen, before := g.since[node.Name]
		if transition := readySince(node); !before || !seen.transition.Equal(transition) {
			seen = gap{transition, running}
		}
		since[node.Name], lasted[node.Name] = seen, running-seen.began
	}
	g.since = since
	return lasted
}

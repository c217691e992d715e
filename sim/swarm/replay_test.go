package swarm_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// The same seed gives the same trace: on one core and on two, and whether
// somebody looks or not. hack/sim.sh replay does it for many seeds, and under the
// race detector.
func TestTheSameRunGivesTheSameTrace(t *testing.T) {
	for _, seed := range []uint64{3, 12} {
		run := swarm.Draw(seed, swarm.Size{MostNodes: 3, Safety: 10 * time.Minute})
		before := runtime.GOMAXPROCS(1)
		once := swarm.Execute(t.Context(), run, swarm.Options{})
		runtime.GOMAXPROCS(2)
		again := swarm.Execute(t.Context(), run, swarm.Options{})
		lines := 0
		watched := swarm.Execute(t.Context(), run, swarm.Options{Sink: func(world.Line) { lines++ }})
		runtime.GOMAXPROCS(before)
		if once.Hash != again.Hash {
			t.Errorf("seed %d: %x on one core, %x on two", seed, once.Hash, again.Hash)
		}
		if once.Hash != watched.Hash || lines == 0 {
			t.Errorf("seed %d: %x without a trace, %x with %d lines of it", seed, once.Hash, watched.Hash, lines)
		}
		if once.Figures.Calls == 0 {
			t.Errorf("seed %d: nothing happened", seed)
		}
	}
}

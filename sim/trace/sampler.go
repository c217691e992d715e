package trace

import (
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Targets whose reachability is shown.
const (
	Gateway = "gateway"
	DNS     = "dns"
	API     = "api"
)

// Sampler writes who reaches what, when it changes, as lines of kind Reach. They
// go to the Sink only and so are not in the hash: a run is the same whether
// somebody watches or not.
type Sampler struct {
	world *world.World
	nodes func() []string
	reach func(node, target string) error
	next  time.Duration
	cut   map[[2]string]string // why; "" for ok
}

// samplingStep is how late a change is seen at most. A cut that is over before
// that is nobody's.
const samplingStep = 100 * time.Millisecond

// NewSampler asks reach, which must not change the run, for every node.
func NewSampler(w *world.World, nodes func() []string, reach func(node, target string) error) *Sampler {
	return &Sampler{world: w, nodes: nodes, reach: reach, cut: map[[2]string]string{}}
}

// Step is called after each step of the world (World.AfterStep).
func (s *Sampler) Step() {
	if s.world.Sink == nil || s.world.Elapsed() < s.next {
		return
	}
	s.next = s.world.Elapsed() + samplingStep
	for _, node := range s.nodes() {
		for _, target := range []string{Gateway, DNS, API} {
			s.sample(node, target)
		}
	}
}

func (s *Sampler) sample(node, target string) {
	why, is := "", target+" ok"
	if err := s.reach(node, target); err != nil {
		why, is = err.Error(), target+" cut: "+err.Error()
	}
	at := [2]string{node, target}
	if s.cut[at] != "" == (why != "") {
		return
	}
	s.cut[at] = why
	s.world.Sink(world.Line{At: s.world.Elapsed(), Who: node, What: Reach, Text: is})
}

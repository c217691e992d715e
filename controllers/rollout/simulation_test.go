package rollout

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Runs that differ in everything that a seed can draw. What must hold: no step
// lets more transactions be open on the hosts than maxUnavailable allows, and
// every run ends with each node told.
func TestARolloutKeepsItsLimitOnEveryStepAndEnds(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		s := newSimulation(seed)
		if err := s.run(); err != nil {
			t.Fatalf("seed %d (%s): %v\n%s", seed, s.options, err, lastLines(s.log.String(), 60))
		}
	}
}

type simulation struct {
	*world
	random  *rand.Rand
	options string
	// disturbances left: edits, label and readiness flips, deletions.
	disturbances int
	// shrinks: nodes may go, which makes a percentage smaller.
	shrinks bool
	joined  int
}

func newSimulation(seed uint64) *simulation {
	random := rand.New(rand.NewPCG(seed, 7))
	count := 1 + random.IntN(12)
	var names []string
	for i := range count {
		names = append(names, fmt.Sprintf("node%02d", i))
	}
	limit := fmt.Sprint(1 + random.IntN(4))
	shrinks := true
	if random.IntN(2) == 0 {
		limit, shrinks = fmt.Sprintf("%d%%", 1+random.IntN(100)), false
	}
	s := &simulation{world: newWorld(limit, names...), random: random, shrinks: shrinks, disturbances: random.IntN(30)}
	badShare := []int{0, 0, 5, 30, 100}[random.IntN(5)]
	badUntil := random.IntN(4)
	s.retries = random.IntN(2) == 0
	s.fails = func(node string, generation int64, try int) bool {
		bad := int(hash(node, generation, seed)%100) < badShare
		return bad && (!s.retries || try < badUntil)
	}
	s.options = fmt.Sprintf("%d nodes, maxUnavailable %s, %d%% fail, retries %v", count, limit, badShare, s.retries)
	return s
}

func hash(node string, generation int64, seed uint64) uint64 {
	h := seed*31 + uint64(generation)
	for _, c := range node {
		h = h*1099511628211 + uint64(c)
	}
	return h >> 7
}

func (s *simulation) run() error {
	for quiet := 0; quiet < 200; quiet++ {
		before := len(s.openTransactions())
		if s.step() {
			quiet = 0
		}
		open, limit := s.openTransactions(), s.limit()
		if len(open) > limit && len(open) > before {
			return fmt.Errorf("%d transactions are open, at most %d may be: %s", len(open), limit, strings.Join(open, ", "))
		}
	}
	return s.ended()
}

// step lets a random part act and tells whether the run may go on.
func (s *simulation) step() bool {
	switch s.random.IntN(4) {
	case 0:
		s.plan()
		return false
	case 1:
		if s.disturbances == 0 {
			return false
		}
		s.disturbances--
		s.disturb()
		return true
	default:
		if len(s.hosts) == 0 {
			return false
		}
		h := s.hosts[s.random.IntN(len(s.hosts))]
		// Without faults left every node comes back.
		if s.disturbances == 0 && !h.Ready {
			h.Ready = true
		}
		return s.turn(h.Name)
	}
}

func (s *simulation) disturb() {
	switch s.random.IntN(5) {
	case 0:
		s.edit()
	case 1:
		s.joined++
		s.hosts = append(s.hosts, &host{Node: Node{Name: fmt.Sprintf("late%02d", s.joined), Ready: true, Matches: true}})
	case 2:
		if h := s.anyHost(); h != nil {
			h.Ready = !h.Ready
			s.say("%s: Ready=%v", h.Name, h.Ready)
		}
	case 3:
		if h := s.anyHost(); h != nil && (s.shrinks || !h.Matches) {
			h.Matches = !h.Matches
			s.say("%s: matches=%v", h.Name, h.Matches)
		}
	case 4:
		if h := s.anyHost(); h != nil && s.shrinks {
			s.remove(h.Name)
			// The garbage collector takes the enactment some time later.
			if s.random.IntN(2) == 0 {
				delete(s.enactments, h.Name)
			}
		}
	}
}

func (s *simulation) anyHost() *host {
	if len(s.hosts) == 0 {
		return nil
	}
	return s.hosts[s.random.IntN(len(s.hosts))]
}

// ended checks that nothing is left to do and that everybody was told so.
func (s *simulation) ended() error {
	s.plan()
	for _, h := range s.hosts {
		for s.turn(h.Name) {
		}
	}
	out := s.plan()
	if len(out.Grants)+len(out.Aborts)+len(out.Unaborts) > 0 || out.StatusChanged {
		return fmt.Errorf("it is quiet, yet the plan still decides: %q", out.Notes)
	}
	counts := out.Status.Counts
	if counts.Pending > 0 || counts.Progressing > 0 {
		return fmt.Errorf("it is quiet, yet nodes wait or progress: %+v", counts)
	}
	if counts.Aborted > 0 && int(counts.Failing) < s.limit() {
		return fmt.Errorf("nodes stay aborted although few fail: %+v", counts)
	}
	if counts.NotReady > 0 || counts.Matched != counts.Available+counts.Failing+counts.Aborted {
		return fmt.Errorf("the counts do not add up: %+v", counts)
	}
	return nil
}

func lastLines(text string, count int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

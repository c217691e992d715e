package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
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
	// returned is how many nodes may be changing beside those that have a slot.
	returned int
	// edits that changed nothing but the rollout, by generation.
	same map[int64]int64
	// wrong is the first plan that broke a rule.
	wrong error
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
	for i := range min(count, int(seed%6)) { // Of every sixth run none is of the control plane.
		s.hosts[i].ControlPlane = true
	}
	badShare := []int{0, 0, 5, 30, 100}[random.IntN(5)]
	badUntil := random.IntN(4)
	s.retries = random.IntN(2) == 0
	s.fails = func(node string, generation int64, try int) bool {
		bad := int(hash(node, generation, seed)%100) < badShare
		return bad && (!s.retries || try < badUntil)
	}
	s.same = map[int64]int64{}
	s.content = func(node string, generation int64) string {
		for s.same[generation] != 0 {
			generation = s.same[generation]
		}
		// Some nodes do not notice every other edit.
		if hash(node, 0, seed)%3 == 0 {
			generation /= 2
		}
		return fmt.Sprint("state ", generation)
	}
	s.policy.Spec.Rollout = s.drawRollout()
	s.options = fmt.Sprintf("%d nodes, maxUnavailable %s, %d%% fail, retries %v, rollout %s",
		count, limit, badShare, s.retries, told(s.policy.Spec.Rollout))
	return s
}

func told(r *v1.Rollout) string {
	if r == nil {
		return "none"
	}
	canary := int32(0)
	if r.Canary != nil {
		canary = *r.Canary
	}
	return fmt.Sprintf("{canary %d, pauseAfterCanary %v, paused %v, soakSeconds %d}", canary, r.PauseAfterCanary, r.Paused, r.SoakSeconds)
}

// drawRollout has each rule in some of the runs; half of them have none.
func (s *simulation) drawRollout() *v1.Rollout {
	if s.random.IntN(2) == 0 {
		return nil
	}
	r := &v1.Rollout{Paused: s.random.IntN(8) == 0}
	if s.random.IntN(3) > 0 {
		r.Canary = new(int32(1 + s.random.IntN(4)))
		r.PauseAfterCanary = s.random.IntN(3) == 0
	}
	if s.random.IntN(3) == 0 {
		r.SoakSeconds = int32(1 + s.random.IntN(20))
	}
	return r
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
		if s.wrong != nil {
			return s.wrong
		}
		if quiet == 199 && s.resume() {
			quiet = 0
		}
		open, limit := s.openTransactions(), s.limit()
		if len(open) > limit+s.returned && len(open) > before {
			return fmt.Errorf("%d transactions are open, at most %d may be: %s", len(open), limit, strings.Join(open, ", "))
		}
	}
	return s.ended()
}

// step lets a random part act and tells whether the run may go on.
func (s *simulation) step() bool {
	switch s.random.IntN(4) {
	case 0:
		return s.checkedPlan().RequeueAfter > 0
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
		if s.disturbances == 0 {
			s.ready(h.Name, true)
			h.silentSince = time.Time{}
		}
		return s.turn(h.Name)
	}
}

func (s *simulation) disturb() {
	switch s.random.IntN(10) {
	case 0:
		s.edit()
	case 7:
		s.joined++
		s.hosts = append(s.hosts, &host{Node: Node{Name: fmt.Sprintf("bare%02d", s.joined), Ready: true, Matches: true, Unreported: true, Created: s.now}})
	case 8:
		if h := s.anyHost(); h != nil && h.Unreported {
			s.say("%s: its handler has come", h.Name)
			h.Unreported = false
		}
	case 9:
		s.say("a quarter of an hour goes by")
		s.now = s.now.Add(15 * time.Minute)
		s.returned = 1 // The first node that dies with a slot gives it back, and may return.
	case 5:
		s.editRollout(s.drawRollout())
	case 6:
		if h := s.anyHost(); h != nil {
			h.variable++
			s.say("%s: its variable is %d", h.Name, h.variable)
		}
	case 1:
		s.joined++
		s.hosts = append(s.hosts, &host{Node: Node{Name: fmt.Sprintf("late%02d", s.joined), Ready: true, Matches: true}})
	case 2:
		if h := s.anyHost(); h != nil && s.random.IntN(3) == 0 {
			since := s.now
			if !h.silentSince.IsZero() {
				since = time.Time{}
			}
			h.silentSince = since
			s.say("%s: its handler runs=%v", h.Name, since.IsZero())
		} else if h != nil {
			s.ready(h.Name, !h.Ready)
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

// editRollout is a new generation in which nothing else changes.
func (s *simulation) editRollout(rollout *v1.Rollout) {
	s.edit()
	s.same[s.policy.Generation] = s.policy.Generation - 1
	s.policy.Spec.Rollout = rollout
}

// resume is the person who lets a paused rollout go on.
func (s *simulation) resume() bool {
	rollout := s.policy.Spec.Rollout
	if rollout == nil || !rollout.Paused && !rollout.PauseAfterCanary {
		return false
	}
	next := *rollout
	next.Paused, next.PauseAfterCanary = false, false
	s.editRollout(&next)
	return true
}

// checkedPlan plans and holds what is granted against the rules, which are
// counted here once more on what the nodes have told.
func (s *simulation) checkedPlan() Output {
	var matching, unmanaged, done, begun, granted, busy, fresh int
	rollout := s.policy.Spec.Rollout
	if rollout == nil {
		rollout = &v1.Rollout{}
	}
	needsSlot := map[string]bool{}
	open := map[string]bool{}
	for _, h := range s.hosts {
		e := s.enactments[h.Name]
		if open[h.Name] = h.open != 0; open[h.Name] {
			busy++
		}
		if !h.Matches {
			continue
		}
		matching++
		if h.Unreported && s.now.Add(time.Second).Sub(h.Created) >= DefaultGrace || s.isSilentForLong(h) {
			unmanaged++
		}
		if e == nil {
			continue
		}
		told := e.Status.PolicyGeneration == s.policy.Generation
		has := told && e.Status.Committed != nil && e.Status.Committed.Hash == e.Status.Hash
		soaked := has && s.now.Add(time.Second).Sub(e.Status.Committed.Since.Time) >= time.Duration(rollout.SoakSeconds)*time.Second
		if has && soaked && h.Ready {
			done++
		}
		if has && !soaked && !open[h.Name] && s.shows(e, v1.EnactmentAvailable) {
			busy++
		}
		if has || isOpenOrTried(h, e, s.policy.Generation) {
			begun++
		}
		needsSlot[h.Name] = !has
	}
	away, plane := s.planeAway()
	out := s.plan()
	for _, name := range out.Grants {
		if s.host(name).ControlPlane && needsSlot[name] && !open[name] {
			away[name] = true
			if len(away) > max(1, (plane-1)/2) {
				s.wrong = fmt.Errorf("%s begins, and of the %d nodes of the control plane %d are away then", name, plane, len(away))
			}
		}
		if needsSlot[name] {
			granted++
			if !open[name] {
				fresh++
			}
		}
	}
	canaries := 0
	if rollout.Canary != nil {
		canaries = min(int(*rollout.Canary), matching-unmanaged)
	}
	switch {
	case granted == 0 || s.wrong != nil:
	case fresh > 0 && busy+fresh > s.limit()+s.returned:
		s.wrong = fmt.Errorf("%d nodes are granted a slot, %d are changing or soak, and at most %d may", fresh, busy, s.limit())
	case rollout.Paused:
		s.wrong = fmt.Errorf("%d nodes are granted a slot while it is paused", granted)
	case done < canaries && begun+granted > canaries:
		s.wrong = fmt.Errorf("%d nodes are granted a slot, %d have begun and %d of %d canary nodes are done", granted, begun, done, canaries)
	case rollout.PauseAfterCanary && canaries > 0 && done >= canaries:
		s.wrong = fmt.Errorf("%d nodes are granted a slot although it pauses after %d canary nodes", granted, canaries)
	}
	return out
}

// planeAway are the nodes of the control plane that are changing or not Ready, and how many
// it has.
func (s *simulation) planeAway() (away map[string]bool, nodes int) {
	away = map[string]bool{}
	for _, h := range s.hosts {
		if !h.ControlPlane {
			continue
		}
		nodes++
		if h.open != 0 && !s.isSilentForLong(h) || !h.Ready { // What a dead handler left open expires.
			away[h.Name] = true
		}
	}
	return away, nodes
}

// isSilentForLong: the handler of a node at which the generation has no end died.
func (s *simulation) isSilentForLong(h *host) bool {
	e := s.enactments[h.Name]
	ended := e != nil && e.Status.PolicyGeneration == s.policy.Generation && (s.shows(e, v1.EnactmentAvailable) || s.shows(e, v1.EnactmentFailing))
	return !h.silentSince.IsZero() && s.now.Add(time.Second).Sub(h.silentSince) >= DefaultGrace && !ended
}

// isOpenOrTried: the generation was granted to the node, as it comes out there.
func isOpenOrTried(h *host, e *v1.NodeNetworkConfigurationEnactment, generation int64) bool {
	if e.Spec.ApprovedGeneration != generation {
		return false
	}
	return h.open == generation || e.Status.Committed == nil || e.Status.Committed.Generation != generation
}

// ended checks that nothing is left to do and that everybody was told so.
func (s *simulation) ended() error {
	s.checkedPlan()
	for _, h := range s.hosts {
		h.silentSince = time.Time{}
		for s.turn(h.Name) {
		}
	}
	s.now = s.now.Add(DefaultGrace) // Whose handler never came is not waited for.
	s.checkedPlan()
	out := s.checkedPlan()
	if s.wrong != nil {
		return s.wrong
	}
	if len(out.Grants)+len(out.Aborts)+len(out.Unaborts) > 0 || out.StatusChanged {
		return fmt.Errorf("it is quiet, yet the plan still decides: %q", out.Notes)
	}
	counts := out.Status.Counts
	if counts.Pending > 0 || counts.Progressing > 0 {
		return fmt.Errorf("it is quiet, yet nodes wait or progress: %+v", counts)
	}
	canary := s.policy.Spec.Rollout != nil && s.policy.Spec.Rollout.Canary != nil
	_, plane := s.planeAway()
	if counts.Aborted > 0 && int(counts.Failing) < s.limit() && !((canary || plane > 0) && counts.Failing > 0) {
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

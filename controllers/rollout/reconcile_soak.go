package rollout

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// soaks remembers since when nodes are configured, as this process saw it. The time in an
// enactment is that of the node: one whose clock is an hour ahead, as after a boot until
// NTP has set it, would soak for an hour, and one whose clock is behind not at all.
type soaks struct {
	mu       sync.Mutex
	policies map[string]map[string]soak // by policy and enactment
}

// soak is a node's configuration that proves itself.
type soak struct {
	of    types.UID     // the enactment's
	since time.Time     // by the node's clock; zero: it is not configured
	began time.Duration // in the run of this process
	// witnessed: this process saw it begin.
	witnessed bool
}

// observe takes in the enactments of a policy as they are now, and tells for how long each
// node is configured. What was so before this process began, the node's own clock tells.
func (s *soaks) observe(in plan.Input, running time.Duration) map[string]time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	policy := in.Policy.Name
	if rules := in.Policy.Spec.Rollout; rules == nil || rules.SoakSeconds == 0 {
		delete(s.policies, policy)
		return nil
	}
	before, known := s.policies[policy]
	now, lasted := map[string]soak{}, map[string]time.Duration{}
	for i := range in.Enactments {
		one := &in.Enactments[i]
		since := plan.ConfiguredSince(one).Time
		seen, is := before[one.Name]
		if !is || seen.of != one.UID || !seen.since.Equal(since) {
			seen = soak{of: one.UID, since: since, began: running, witnessed: known}
		}
		now[one.Name] = seen
		lasted[one.Node()] = running - seen.began
		if !seen.witnessed {
			lasted[one.Node()] = max(lasted[one.Node()], in.Now.Sub(since))
		}
	}
	if s.policies == nil {
		s.policies = map[string]map[string]soak{}
	}
	s.policies[policy] = now
	return lasted
}

// forget is for a policy that is gone.
func (s *soaks) forget(policy string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.policies, policy)
}

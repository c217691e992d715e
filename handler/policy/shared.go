package policy

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// sharedRenderings are those of policies that come out alike on all nodes:
// with thousands of nodes each is kept once and not for every node. A rendering
// never changes, so nodes may hold the same one.
type sharedRenderings struct {
	mu sync.Mutex
	// byPolicy, and by whether bridges filter VLANs.
	byPolicy map[types.UID]map[bool]rendering
}

// alike tells whether nothing of a node but its bridges makes a difference.
func alike(policy *v1.NodeNetworkConfigurationPolicy) bool {
	spec := &policy.Spec
	return len(spec.Match) == 0 && len(spec.Capture) == 0 && len(spec.Variables) == 0 && spec.AutoConfig == nil
}

// find returns false when this generation was not rendered for such a node.
func (s *sharedRenderings) find(policy *v1.NodeNetworkConfigurationPolicy, filters *bool) (rendering, bool) {
	if filters == nil || !alike(policy) {
		return rendering{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.byPolicy[policy.UID][*filters]
	return known, ok && known.generation == policy.Generation
}

func (s *sharedRenderings) keep(policy *v1.NodeNetworkConfigurationPolicy, made rendering) {
	if made.filters == nil || made.open || !alike(policy) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byPolicy[policy.UID] == nil {
		s.byPolicy[policy.UID] = map[bool]rendering{}
	}
	s.byPolicy[policy.UID][*made.filters] = made
}

// only forgets the policies that are not among these.
func (s *sharedRenderings) only(policies []v1.NodeNetworkConfigurationPolicy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byPolicy) <= len(policies) {
		return // At most as many are kept as there are policies.
	}
	there := make(map[types.UID]bool, len(policies))
	for i := range policies {
		there[policies[i].UID] = true
	}
	for uid := range s.byPolicy {
		if !there[uid] {
			delete(s.byPolicy, uid)
		}
	}
}

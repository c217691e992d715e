package rollout

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// unsureFor is longer than the API server works on a request whose sender has
// gone (its --request-timeout): after that the cache shows the grant, or it will
// never be.
const unsureFor = 90 * time.Second

// unsure remembers the grants whose reply was lost. The write may be there before
// the cache shows it, or still come; planned without it, its slot would be granted
// to another node.
type unsure struct {
	mu     sync.Mutex
	grants map[types.UID]map[string]time.Time
}

func (u *unsure) add(policy types.UID, node string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.grants == nil {
		u.grants = map[types.UID]map[string]time.Time{}
	}
	if u.grants[policy] == nil {
		u.grants[policy] = map[string]time.Time{}
	}
	u.grants[policy][node] = now
}

// nodes are those with such a grant of the policy.
func (u *unsure) nodes(policy types.UID, now time.Time) map[string]bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	nodes := map[string]bool{}
	for node, at := range u.grants[policy] {
		if age := now.Sub(at); age < 0 || age > unsureFor {
			delete(u.grants[policy], node)
			continue
		}
		nodes[node] = true
	}
	if len(nodes) == 0 {
		delete(u.grants, policy)
	}
	return nodes
}

package rollout

import (
	"sync"
	"time"
)

// restPerNode is how long a policy rests from one plan to the next, for each of its nodes.
// A plan looks at all of them and takes about 10 microseconds for each: so it is a fifth of
// a core at most, however many of them tell something at once. What they tell meanwhile is
// in the next plan.
const restPerNode = 50 * time.Microsecond

// manyNodes is from how many on a policy rests. Fewer cost nothing that is worth waiting for.
const manyNodes = 200

// pace remembers until when policies rest. The first change after a rest is planned at
// once.
type pace struct {
	mu    sync.Mutex
	until map[string]time.Duration // in the run of this process
}

// wait is how long the policy still rests.
func (p *pace) wait(policy string, running time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until[policy] - running
}

// planned: the policy was planned with so many nodes, beginning at the given time.
func (p *pace) planned(policy string, nodes int, began time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if nodes < manyNodes {
		delete(p.until, policy)
		return
	}
	if p.until == nil {
		p.until = map[string]time.Duration{}
	}
	p.until[policy] = began + time.Duration(nodes)*restPerNode
}

package rollout

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// caughtUp remembers the policies whose enactments the cache has shown as new as
// the API server had them when this process first planned them. Our own writes
// since then are waited for by the client, and what nodes report late only holds
// slots for longer; but a process that begins may be shown an older API server, and
// would grant again what its predecessor has granted to others.
type caughtUp struct {
	mu       sync.Mutex
	policies map[types.UID]bool
}

// has tells whether that was seen of the policy.
func (c *caughtUp) has(policy types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policies[policy]
}

func (c *caughtUp) add(policy types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.policies == nil {
		c.policies = map[types.UID]bool{}
	}
	c.policies[policy] = true
}

// fresh tells whether the input is as new as what the API server itself has, by
// one list the first time that a policy is planned.
func (r *Reconciler) fresh(ctx context.Context, in Input) (bool, error) {
	if r.seen.has(in.Policy.UID) {
		return true, nil
	}
	live := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.live.List(ctx, live, client.MatchingLabels{v1.EnactmentPolicyLabel: in.Policy.Name}); err != nil {
		return false, fmt.Errorf("listing the enactments of policy %s live: %w", in.Policy.Name, err)
	}
	cached := make(map[string]string, len(in.Enactments))
	for i := range in.Enactments {
		cached[in.Enactments[i].Name] = in.Enactments[i].ResourceVersion
	}
	for i := range live.Items {
		version, there := cached[live.Items[i].Name]
		if !there {
			return false, nil
		}
		if order, err := resourceversion.CompareResourceVersion(version, live.Items[i].ResourceVersion); err == nil && order < 0 {
			return false, nil
		}
	}
	r.seen.add(in.Policy.UID)
	return true, nil
}

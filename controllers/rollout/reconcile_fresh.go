package rollout

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// caughtUp remembers the policies that the cache has shown, with their enactments, as new as
// the API server had them when this process first planned them. Our own writes
// since then are waited for by the client, and what nodes report late only holds
// slots for longer; but a process that begins may be shown an older API server, and
// would grant again what its predecessor has granted to others, or take a status for told
// that its predecessor has written over.
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
// one list and one read the first time that a policy is planned.
func (r *Reconciler) fresh(ctx context.Context, in plan.Input) (bool, error) {
	if r.seen.has(in.Policy.UID) {
		return true, nil
	}
	if behind, err := r.behind(ctx, "", in.Policy.Name, in.Enactments); behind || err != nil {
		return false, err
	}
	policy := &v1.NodeNetworkConfigurationPolicy{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(in.Policy), policy); err != nil {
		return false, client.IgnoreNotFound(fmt.Errorf("reading policy %s live: %w", in.Policy.Name, err))
	}
	if policy.UID != in.Policy.UID || isBehind(in.Policy.ResourceVersion, policy.ResourceVersion) {
		return false, nil
	}
	r.seen.add(in.Policy.UID)
	return true, nil
}

// behind tells whether the API server has newer enactments of a policy than these, which a
// cache has shown. What was found once under seen is not asked for again.
func (r *Reconciler) behind(ctx context.Context, seen types.UID, policy string, shown []v1.NodeNetworkConfigurationEnactment) (bool, error) {
	if seen != "" && r.seen.has(seen) {
		return false, nil
	}
	live := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.live.List(ctx, live, client.MatchingLabels{v1.EnactmentPolicyLabel: policy}); err != nil {
		return false, fmt.Errorf("listing the enactments of policy %s live: %w", policy, err)
	}
	cached := make(map[string]string, len(shown))
	for i := range shown {
		cached[shown[i].Name] = shown[i].ResourceVersion
	}
	for i := range live.Items {
		if !plan.OfItsNode(&live.Items[i]) {
			continue
		}
		version, there := cached[live.Items[i].Name]
		if !there || isBehind(version, live.Items[i].ResourceVersion) {
			return true, nil
		}
	}
	if seen != "" {
		r.seen.add(seen)
	}
	return false, nil
}

func isBehind(version, live string) bool {
	order, err := resourceversion.CompareResourceVersion(version, live)
	return err == nil && order < 0
}

// newest reads the policy live where an enactment tells of a newer generation:
// either the cache is late, or the node says what is not so, which is told and
// keeps nobody else waiting.
func (r *Reconciler) newest(ctx context.Context, in plan.Input) (bool, error) {
	ahead := plan.NewerThanPolicy(in)
	if ahead == "" {
		return false, nil
	}
	live := &v1.NodeNetworkConfigurationPolicy{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(in.Policy), live); err != nil {
		return false, client.IgnoreNotFound(fmt.Errorf("reading policy %s live: %w", in.Policy.Name, err))
	}
	if live.UID != in.Policy.UID || live.Generation != in.Policy.Generation {
		return false, nil
	}
	r.events.Eventf(in.Policy, nil, corev1.EventTypeWarning, "EnactmentIgnored", "Rollout",
		"enactment %s tells of a newer generation than there is, %d; it is ignored until it tells the truth", ahead, live.Generation)
	return true, nil
}

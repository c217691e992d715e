package rollout

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// policyIndex is the cache's index of enactments by policy: a cache lists by
// label by looking at the enactments of all policies.
const policyIndex = v1.EnactmentPolicyLabel

// Index makes the cache list enactments by policy, which plans go by from then
// on.
func (r *Reconciler) Index(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &v1.NodeNetworkConfigurationEnactment{}, policyIndex, func(object client.Object) []string {
		if name := object.GetLabels()[v1.EnactmentPolicyLabel]; name != "" {
			return []string{name}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the enactments by policy: %w", err)
	}
	r.indexed = true
	return nil
}

// ofPolicy selects the enactments of a policy, by the index where there is one.
func (r *Reconciler) ofPolicy(name string) client.ListOption {
	if r.indexed {
		return client.MatchingFields{policyIndex: name}
	}
	return client.MatchingLabels{v1.EnactmentPolicyLabel: name}
}

package rollout

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// policyIndex is the cache's index of enactments by policy: a cache lists by
// label by looking at the enactments of all policies.
const policyIndex = v1.EnactmentPolicyLabel

// nodeIndex is its index by node. Beside it the policy handler may have one of its own,
// where it runs in the controllers, and no two have one name.
const nodeIndex = "rollout/" + v1.EnactmentNodeLabel

// Index makes the cache list enactments by policy and by node, which plans go by from then
// on.
func (r *Reconciler) Index(ctx context.Context, indexer client.FieldIndexer) error {
	for index, label := range map[string]string{policyIndex: v1.EnactmentPolicyLabel, nodeIndex: v1.EnactmentNodeLabel} {
		err := indexer.IndexField(ctx, &v1.NodeNetworkConfigurationEnactment{}, index, func(object client.Object) []string {
			if name := object.GetLabels()[label]; name != "" {
				return []string{name}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("indexing the enactments by %s: %w", label, err)
		}
	}
	r.indexed = true
	return nil
}

// ofPolicy selects the enactments of a policy, by the index where there is one.
func (r *Reconciler) ofPolicy(name string) client.ListOption {
	return r.listed(policyIndex, v1.EnactmentPolicyLabel, name)
}

// ofNode selects those of a node.
func (r *Reconciler) ofNode(name string) client.ListOption {
	return r.listed(nodeIndex, v1.EnactmentNodeLabel, desired.NodeLabel(name))
}

func (r *Reconciler) listed(index, label, value string) client.ListOption {
	if r.indexed {
		return client.MatchingFields{index: value}
	}
	return client.MatchingLabels{label: value}
}

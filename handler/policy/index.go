package policy

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// nodeIndex is the cache's index of enactments by node. A cache lists by label
// by looking at every object: with thousands of nodes and a hundred policies
// each turn would walk over half a million.
const nodeIndex = v1.EnactmentNodeLabel

// Index makes the cache list enactments by node, which turns go by from then on.
func (r *Reconciler) Index(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &v1.NodeNetworkConfigurationEnactment{}, nodeIndex, func(object client.Object) []string {
		if label, ok := object.GetLabels()[v1.EnactmentNodeLabel]; ok {
			return []string{label}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("indexing the enactments by node: %w", err)
	}
	r.indexed = true
	return nil
}

// ofNode selects the enactments of a node, by the index where there is one: an
// API server that is asked directly has labels only.
func (r *Reconciler) ofNode(name string) client.ListOption {
	label := desired.NodeLabel(name)
	if r.indexed {
		return client.MatchingFields{nodeIndex: label}
	}
	return client.MatchingLabels{v1.EnactmentNodeLabel: label}
}

package policy

import (
	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

const waitingForVLANs = "Waiting for the first report of this node, which tells whether its bridges filter VLANs"

// filtersVLANs is the node's own word on its bridges; nil before its first
// report.
func (g *gathered) filtersVLANs() *bool {
	if g.state == nil {
		return nil
	}
	return g.state.Status.BridgeVLANFiltering
}

// complete renders a policy for the node. It returns false while the node has
// not said whether its bridges filter VLANs and the rendering depends on it. A
// node whose report was lost keeps what it has committed.
func complete(g *gathered, policy *v1.NodeNetworkConfigurationPolicy, raw []byte) (desired.Rendering, bool, error) {
	if filters := g.filtersVLANs(); filters != nil {
		rendered, err := desired.Render(raw, policy.Spec.Priority, *filters)
		return rendered, true, err
	}
	without, err := desired.Render(raw, policy.Spec.Priority, false)
	if err != nil {
		return without, true, err
	}
	with, err := desired.Render(raw, policy.Spec.Priority, true)
	if err != nil || with.Hash == without.Hash {
		return with, true, err
	}
	enactment := g.enacted[policy.Name]
	if enactment == nil || enactment.Status.Committed == nil {
		return desired.Rendering{}, false, nil
	}
	for _, rendered := range []desired.Rendering{with, without} {
		if rendered.Hash == enactment.Status.Committed.Hash {
			return rendered, true, nil
		}
	}
	return desired.Rendering{}, false, nil
}

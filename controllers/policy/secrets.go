package policy

import (
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

const waitingForKey = "Waiting for this node's handler to tell the key that Secrets are sealed with (status.secretsKey of its NodeNetworkState)"

// secure asks for the Secrets that a policy names, by telling the node's key in the
// enactment, and refers to the versions that it was given. It tells whether that is
// another rendering than the one that was known.
func (g *gathered) secure(p *desired.Policy, policy *v1.NodeNetworkConfigurationPolicy, known *rendering) bool {
	if g.state == nil || g.state.Status.SecretsKey == "" {
		p.Rendering, p.Waiting = desired.Rendering{}, waitingForKey
		return false
	}
	p.SecretsKey = g.state.Status.SecretsKey
	var given []v1.SealedSecret
	if enactment := g.enacted[policy.Name]; enactment != nil && ownedBy(enactment, policy) {
		given = enactment.Spec.Secrets
	}
	if known.secured.Hash != "" && slices.Equal(known.given, given) {
		p.Rendering = known.secured
		return false
	}
	p.Rendering, p.Waiting, p.Err = desired.Secured(p.Rendering, policy.Spec.Priority, given)
	known.secured, known.given = p.Rendering, given
	return true
}

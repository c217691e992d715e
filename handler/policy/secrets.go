package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const (
	waitingForKey = "Waiting for this node's handler to tell the key that Secrets are sealed with (status.secretsKey of its NodeNetworkState)"
	// mostClear is how many different secrets a policy may have in clear text.
	mostClear = 32
)

// refer names a secret that the policy has in clear text. Where the node's own key is not
// at hand, the generation stands for the value: an edit of the policy is another version.
func (r *Reconciler) refer(policy *v1.NodeNetworkConfigurationPolicy) func(path, value string) state.SecretReference {
	return func(path, value string) state.SecretReference {
		if r.Fingerprint != nil {
			return state.SecretReference{Name: state.FromPolicy, Key: r.Fingerprint(value)}
		}
		sum := sha256.Sum256([]byte(string(policy.UID) + "\x00" + path))
		return state.SecretReference{Name: state.FromPolicy, Key: hex.EncodeToString(sum[:8])}
	}
}

// version of a secret that a policy has in clear text.
func (r *Reconciler) version(policy *v1.NodeNetworkConfigurationPolicy, key string) string {
	if r.Fingerprint != nil {
		return secret.Version("1", key)
	}
	return secret.Version(fmt.Sprint(policy.Generation), key)
}

// secure puts versions into the references of a rendering to secrets, and tells whether
// that is another rendering than the one that was known. It asks for the Secrets that the
// policy names, by telling the node's key in the enactment, and seals what the policy has
// in clear text.
func (r *Reconciler) secure(g *gathered, p *desired.Policy, policy *v1.NodeNetworkConfigurationPolicy, known *rendering) bool {
	if g.state == nil || g.state.Status.SecretsKey == "" {
		p.Rendering, p.Waiting = desired.Rendering{}, waitingForKey
		return false
	}
	key := g.state.Status.SecretsKey
	var given []v1.SealedSecret
	if slices.ContainsFunc(known.State.SecretReferences(), func(s state.SecretReference) bool { return !s.IsFromPolicy() }) {
		p.SecretsKey = key
		if enactment := g.enacted[policy.Name]; enactment != nil && ownedBy(enactment, policy) {
			given = enactment.Spec.Secrets
		}
	}
	if known.sealedFor != key {
		known.sealed, p.Err = sealed(known.clear, key, r.version(policy, key))
		if p.Err != nil {
			p.Rendering = desired.Rendering{}
			return false
		}
		known.sealedFor, known.secured = key, desired.Rendering{}
	}
	p.Sealed = known.sealed
	if known.secured.Hash != "" && slices.Equal(known.given, given) {
		p.Rendering = known.secured
		return false
	}
	p.Rendering, p.Waiting, p.Err = desired.Secured(p.Rendering, policy.Spec.Priority, slices.Concat(given, known.sealed))
	known.secured, known.given = p.Rendering, given
	return true
}

// sealed are values for one node, in a fixed order.
func sealed(values map[state.SecretReference]string, key, version string) ([]v1.SealedSecret, error) {
	if len(values) > mostClear {
		return nil, fmt.Errorf("spec.desiredState has %d secrets in clear text, and there is room for %d: divide it into several policies", len(values), mostClear)
	}
	var made []v1.SealedSecret
	for _, one := range slices.SortedFunc(maps.Keys(values), func(a, b state.SecretReference) int { return cmp.Compare(a.Key, b.Key) }) {
		if size := len(values[one]); size > secret.MaxValue {
			return nil, fmt.Errorf("spec.desiredState has a secret of %d bytes in clear text, and there is room for %d", size, secret.MaxValue)
		}
		value := values[one]
		one.Version = version
		text, err := secret.Seal(key, one, []byte(value))
		if err != nil {
			return nil, fmt.Errorf("sealing a secret of spec.desiredState for this node: %w", err)
		}
		made = append(made, v1.SealedSecret{Name: one.Name, Key: one.Key, Version: version, Sealed: text})
	}
	return made, nil
}

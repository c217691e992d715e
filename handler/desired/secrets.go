package desired

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Secured is a rendering that refers to the versions of Secrets which the node has been
// given. It waits where one is still to come; the error says which there is none of.
// What is sealed is not looked at: only the node can read that.
func Secured(made Rendering, priority int32, given []v1.SealedSecret) (secured Rendering, waiting string, err error) {
	versioned, err := made.State.ResolveSecrets(func(_ string, named state.SecretReference) (string, error) {
		at := slices.IndexFunc(given, func(s v1.SealedSecret) bool { return s.Name == named.Name && s.Key == named.Key })
		if at < 0 {
			waiting = fmt.Sprintf("Waiting for the controllers to hand this node the key %s of Secret %s", named.Key, named.Name)
			return named.String(), nil
		}
		if problem := given[at].Problem; problem != "" {
			return "", errors.New(problem)
		}
		named.Version = given[at].Version
		return named.String(), nil
	})
	if err != nil {
		return Rendering{}, "", fmt.Errorf("spec.desiredState.%w", err)
	}
	if waiting != "" {
		return Rendering{}, waiting, nil
	}
	secured, err = Render(versioned.JSON(), priority, false) // Its trunks are there already.
	return secured, "", err
}

const (
	coverOpening = "(( secret."
	coverClosing = " ))"
)

// CoverSecrets keeps the references of a desired state from libnmstate, which takes
// each template for one of its own; UncoverSecrets puts them back.
func CoverSecrets(raw []byte) []byte {
	for _, named := range referencesIn(raw) {
		raw = bytes.ReplaceAll(raw, []byte(named.String()), []byte(covered(named)))
	}
	return raw
}

// UncoverSecrets is for what was made of the result of CoverSecrets.
func UncoverSecrets(made, original []byte) []byte {
	for _, named := range referencesIn(original) {
		made = bytes.ReplaceAll(made, []byte(covered(named)), []byte(named.String()))
	}
	return made
}

func covered(named state.SecretReference) string {
	return coverOpening + named.Name + "." + named.Key + coverClosing
}

func referencesIn(raw []byte) []state.SecretReference {
	parsed, err := state.Parse(raw)
	if err != nil {
		return nil // Whoever reads it next says why.
	}
	return parsed.SecretReferences()
}

// secretsOf are the Secrets that a target refers to, and what is committed as well: the
// node goes back to that when the target fails.
func (t *turn) secretsOf(target aggregate) []v1.SealedSecret {
	given := t.given()
	if len(given) == 0 {
		return nil
	}
	named := target.state.SecretReferences()
	for _, m := range t.members {
		if m.held != nil {
			named = append(named, m.held.State.SecretReferences()...)
		}
	}
	var found []v1.SealedSecret
	for _, one := range given {
		if slices.Contains(named, reference(one)) && !slices.ContainsFunc(found, func(s v1.SealedSecret) bool { return reference(s) == reference(one) }) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b v1.SealedSecret) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Version, b.Version))
	})
	return found
}

// hasSecrets tells whether the node's spec brings what the target refers to, as far as
// somebody has it.
func (t *turn) hasSecrets(target aggregate) bool {
	given := t.given()
	if len(given) == 0 {
		return true
	}
	has := func(all []v1.SealedSecret, one state.SecretReference) bool {
		return slices.ContainsFunc(all, func(s v1.SealedSecret) bool { return reference(s) == one })
	}
	for _, one := range target.state.SecretReferences() {
		if !has(t.in.State.Spec.Secrets, one) && has(given, one) {
			return false
		}
	}
	return true
}

// given is what the node was given: what its spec has first, so that nothing is
// written where that is enough.
func (t *turn) given() []v1.SealedSecret {
	given := slices.Clone(t.in.State.Spec.Secrets)
	for i := range t.in.Enactments {
		for _, one := range t.in.Enactments[i].Spec.Secrets {
			if one.Problem == "" {
				given = append(given, one)
			}
		}
	}
	for i := range t.in.Policies {
		given = append(given, t.in.Policies[i].Sealed...)
	}
	return given
}

// ReferClear is a desired state with a reference in the place of each secret in clear text,
// and the values of these references. What cannot be read stays as it is: whoever reads it
// next says why.
func ReferClear(raw []byte, refer func(path, value string) state.SecretReference) ([]byte, map[state.SecretReference]string) {
	if !mayHaveClear(raw) {
		return raw, nil
	}
	parsed, err := state.Parse(raw)
	if err != nil {
		return raw, nil
	}
	values := map[state.SecretReference]string{}
	covered := parsed.ReferClear(func(path, value string) state.SecretReference {
		named := refer(path, value)
		values[named] = value
		return named
	})
	if len(values) == 0 {
		return raw, nil
	}
	return covered.JSON(), values
}

func reference(s v1.SealedSecret) state.SecretReference {
	return state.SecretReference{Name: s.Name, Key: s.Key, Version: s.Version}
}

// mayHaveClear is quick. JSON may spell a letter as \u0070.
func mayHaveClear(raw []byte) bool {
	return slices.ContainsFunc([]string{"password", "psk", "mka-cak", `\u00`}, func(part string) bool { return bytes.Contains(raw, []byte(part)) })
}

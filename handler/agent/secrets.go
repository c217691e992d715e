package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Secrets opens what was sealed for this node (handler/secret).
type Secrets interface {
	// Public is the key to seal with.
	Public() string
	// Open is the value.
	Open(about state.SecretReference, sealed string) (string, error)
}

// reveal puts values in the place of a state's references to Secrets, for the backend
// and nobody else. masked is an error as it may be told: without these values.
func (a *Agent) reveal(desired state.State, secrets []v1.SealedSecret) (revealed state.State, masked func(error) error, err error) {
	var values []string
	revealed, err = desired.ResolveSecrets(func(_ string, named state.SecretReference) (string, error) {
		value, err := a.open(named, secrets)
		values = append(values, value)
		return value, err
	})
	return revealed, func(err error) error { return without(err, values) }, err
}

func (a *Agent) open(named state.SecretReference, secrets []v1.SealedSecret) (string, error) {
	at := slices.IndexFunc(secrets, func(s v1.SealedSecret) bool {
		return s.Name == named.Name && s.Key == named.Key && s.Version == named.Version
	})
	switch {
	case a.Secrets == nil:
		return "", fmt.Errorf("%s: this handler has no key to read Secrets with", named)
	case named.Version == "":
		return "", fmt.Errorf("%s: only a policy can refer to a Secret: the controllers hand its values to the nodes of policies", named)
	case at < 0:
		return "", fmt.Errorf("%s: spec.secrets of the NodeNetworkState has no such version of it any more; the policy handler brings it", named)
	}
	value, err := a.Secrets.Open(named, secrets[at].Sealed)
	if err != nil {
		return "", fmt.Errorf("%s: %w", named, err)
	}
	return value, nil
}

// without is an error whose text has none of the values.
func without(err error, values []string) error {
	text := err.Error()
	for _, value := range values {
		if value != "" {
			text = strings.ReplaceAll(text, value, state.Hidden)
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

package secrets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/secret"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// mostNamed is how many values of Secrets a policy may name.
const mostNamed = 32

// input is what the Secrets of an enactment depend on.
type input struct {
	// named are what the policy refers to; none where it is not for this node.
	named []state.SecretReference
	// key is the node's.
	key string
	// namespace of the Secrets, empty where nobody may name any.
	namespace string
	// there are the Secrets that are named and exist.
	there map[string]*corev1.Secret
	// before are those of the enactment as it is.
	before []v1.SealedSecret
}

// hand is what the enactment shall have. A value that it has in this version stays as
// it is: sealed again it would be another text. The error is of the node's key.
func hand(in input) ([]v1.SealedSecret, error) {
	named := in.named
	if len(named) > mostNamed {
		named = named[:mostNamed]
	}
	var handed []v1.SealedSecret
	for _, one := range named {
		next := v1.SealedSecret{Name: one.Name, Key: one.Key}
		if next.Problem = in.problem(one); next.Problem == "" {
			next.Version = secret.Version(in.there[one.Name].ResourceVersion, in.key)
			if err := in.seal(&next); err != nil {
				return nil, err
			}
		}
		handed = append(handed, next)
	}
	return handed, nil
}

func (in input) seal(next *v1.SealedSecret) error {
	for _, had := range in.before {
		if had.Name == next.Name && had.Key == next.Key && had.Version == next.Version && had.Sealed != "" {
			next.Sealed = had.Sealed
			return nil
		}
	}
	var err error
	about := state.SecretReference{Name: next.Name, Key: next.Key, Version: next.Version}
	next.Sealed, err = secret.Seal(in.key, about, in.there[next.Name].Data[next.Key])
	return err
}

// problem is why there is no value to hand over, and what to do, in one line.
func (in input) problem(one state.SecretReference) string {
	object, exists := in.there[one.Name]
	switch {
	case in.namespace == "":
		return fmt.Sprintf("%s: policies may name no Secret in this cluster; whoever installs nmstate can let them (deploy/components/secrets)", one)
	case len(in.named) > mostNamed:
		return fmt.Sprintf("the policy names %d values of Secrets, and there is room for %d: divide it into several policies", len(in.named), mostNamed)
	case !exists:
		return fmt.Sprintf("%s: there is no Secret %s in namespace %s: create it", one, one.Name, in.namespace)
	case object.Type != "" && object.Type != corev1.SecretTypeOpaque: // A token, or a registry's password, is for no network.
		return fmt.Sprintf("%s: Secret %s in namespace %s is of type %s, and policies may name those of type Opaque", one, one.Name, in.namespace, object.Type)
	}
	value, exists := object.Data[one.Key]
	switch {
	case !exists && len(object.Data) == 0:
		return fmt.Sprintf("%s: Secret %s in namespace %s is empty: add the key %s", one, one.Name, in.namespace, one.Key)
	case !exists:
		return shortened(fmt.Sprintf("%s: Secret %s in namespace %s has no key %s, it has %s: add it, or name another one",
			one, one.Name, in.namespace, one.Key, strings.Join(slices.Sorted(maps.Keys(object.Data)), ", ")))
	case len(value) == 0:
		return fmt.Sprintf("%s: the key %s of Secret %s in namespace %s has no value", one, one.Key, one.Name, in.namespace)
	case len(value) > secret.MaxValue:
		return fmt.Sprintf("%s: the key %s of Secret %s in namespace %s has %d bytes, and there is room for %d",
			one, one.Key, one.Name, in.namespace, len(value), secret.MaxValue)
	case !isLine(value):
		return fmt.Sprintf("%s: the key %s of Secret %s in namespace %s is not one line of text; echo adds a line break, printf %%s adds none",
			one, one.Key, one.Name, in.namespace)
	}
	return ""
}

func isLine(value []byte) bool {
	return utf8.Valid(value) && !strings.ContainsFunc(string(value), unicode.IsControl)
}

// shortened is a text that fits into a Problem: a Secret may have many keys.
func shortened(text string) string {
	const most = 1024
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}

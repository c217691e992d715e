package state

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// SecretReference stands for a value of a Secret: {{ secret.NAME.KEY }} in a policy,
// {{ secret.NAME.KEY VERSION }} as the policy comes out on a node. The version makes
// another state of another value, for whoever compares states and cannot read it.
type SecretReference struct {
	// Name of the Secret, without dots, or FromPolicy, and Key in it.
	Name, Key string
	Version   string
}

var (
	reference = regexp.MustCompile(`^\{\{\s*secret\.(Policy|[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)\.([-._a-zA-Z0-9]+)(?:\s+([-a-zA-Z0-9]+))?\s*\}\}$`)
	mention   = regexp.MustCompile(`\{\{\s*secret\.`)
)

// String is the reference as a desired state has it.
func (r SecretReference) String() string {
	if r.Version == "" {
		return fmt.Sprintf("{{ secret.%s.%s }}", r.Name, r.Key)
	}
	return fmt.Sprintf("{{ secret.%s.%s %s }}", r.Name, r.Key, r.Version)
}

// ParseSecretReference reads a text that is nothing but a reference.
func ParseSecretReference(text string) (SecretReference, bool) {
	found := reference.FindStringSubmatch(text)
	if found == nil {
		return SecretReference{}, false
	}
	return SecretReference{Name: found[1], Key: found[2], Version: found[3]}, true
}

// MentionsSecret tells whether a text refers to a Secret, rightly or not.
func MentionsSecret(text string) bool { return mention.MatchString(text) }

var errReference = errors.New("a value of a Secret is named by {{ secret.NAME.KEY }}, with nothing beside it; NAME has no dots")

// CheckSecretReference reads the reference that a policy has at a path. It may only stand
// where a secret stands: everything else is shown to people.
func CheckSecretReference(path, text string) (SecretReference, error) {
	found, is := ParseSecretReference(text)
	if !is || found.Version != "" || found.IsFromPolicy() {
		return found, errReference
	}
	key := path[strings.LastIndex(path, ".")+1:]
	if !slices.Contains(secretKeys(), key) && (!isOfOpenVSwitch(path) || !isSecret(key)) {
		return found, fmt.Errorf("%s cannot stand here, where its value would be shown: it may be the value of %s, and in ovs-db of a key that ends in _password or _psk",
			found, strings.Join(secretKeys(), ", "))
	}
	return found, nil
}

// SecretReferences are those of the state, each once.
func (s State) SecretReferences() []SecretReference {
	var found []SecretReference
	_, _ = resolved("", s.tree, func(_ string, r SecretReference) (string, error) {
		found = append(found, r)
		return "", nil
	})
	slices.SortFunc(found, func(a, b SecretReference) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(found)
}

// ResolveSecrets is the state with a value in the place of each reference. The error names
// the path.
func (s State) ResolveSecrets(value func(path string, r SecretReference) (string, error)) (State, error) {
	tree, err := resolved("", s.tree, value)
	if err != nil {
		return State{}, err
	}
	return FromTree(object(tree)), nil
}

func resolved(path string, value any, with func(path string, r SecretReference) (string, error)) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		tree := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			here := strings.TrimPrefix(path+"."+key, ".")
			item, err := resolved(here, value[key], with)
			if err != nil {
				return nil, err
			}
			tree[key] = item
		}
		return tree, nil
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			filled, err := resolved(path+segment(item, i), item, with)
			if err != nil {
				return nil, err
			}
			items[i] = filled
		}
		return items, nil
	case string:
		found, is := ParseSecretReference(value)
		if !is {
			return value, nil
		}
		text, err := with(path, found)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return text, nil
	}
	return value, nil
}

// segment is a list's item in a path: by its name, where it has one.
func segment(item any, at int) string {
	if name, is := object(item)["name"].(string); is {
		return "[" + name + "]"
	}
	return fmt.Sprintf("[%d]", at)
}

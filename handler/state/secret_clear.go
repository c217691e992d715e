package state

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// FromPolicy is the name in references to what a policy has in clear text. No Secret can
// have this name, since theirs have no capitals.
const FromPolicy = "Policy"

// IsFromPolicy tells whether the value comes from a policy and not from a Secret.
func (r SecretReference) IsFromPolicy() bool { return r.Name == FromPolicy }

// IsSecretPath tells whether the value at a path is a secret: "interfaces[eth1].802.1x.password".
func IsSecretPath(path string) bool { return isSecret(path[strings.LastIndex(path, ".")+1:]) }

// ReferClear is the state with a reference in the place of each secret in clear text.
// Values of the wrong type stay, since the schema refuses them.
func (s State) ReferClear(refer func(path, value string) SecretReference) State {
	return FromTree(object(referredClear("", s.tree, refer)))
}

func referredClear(path string, value any, refer func(path, value string) SecretReference) any {
	switch value := value.(type) {
	case map[string]any:
		tree := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			here := strings.TrimPrefix(path+"."+key, ".")
			if found, is := clearAt(here, value[key]); is && isSecret(key) {
				tree[key] = refer(here, found).String()
			} else {
				tree[key] = referredClear(here, value[key], refer)
			}
		}
		return tree
	case []any:
		items := make([]any, len(value))
		for i, item := range value {
			items[i] = referredClear(path+segment(item, i), item, refer)
		}
		return items
	}
	return value
}

// clearAt is the text of a value that stands in clear. Open vSwitch's database takes
// numbers and booleans for text.
func clearAt(path string, value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return value, value != "" && value != hiddenSecret && !strings.Contains(value, "{{")
	case json.Number, bool:
		return text(value), isOfOpenVSwitch(path)
	}
	return "", false
}

func isOfOpenVSwitch(path string) bool { return slices.Contains(strings.Split(path, "."), "ovs-db") }

// isReference tells whether a value stands for one that only the node's handler can read.
func isReference(value any) bool {
	_, is := ParseSecretReference(text(value))
	return is
}

// WithoutSecrets is the state as it may be reported. nmstate hides all secrets but
// those in Open vSwitch's database.
func (s State) WithoutSecrets() State {
	tree := maps.Clone(s.tree)
	if db := tree["ovs-db"]; db != nil {
		tree["ovs-db"] = Masked(db)
	}
	interfaces := slices.Clone(list(tree["interfaces"]))
	for i, one := range interfaces {
		if db := object(one)["ovs-db"]; db != nil {
			masked := maps.Clone(object(one))
			masked["ovs-db"] = Masked(db)
			interfaces[i] = masked
		}
	}
	if interfaces != nil {
		tree["interfaces"] = interfaces
	}
	return State{tree: tree}
}

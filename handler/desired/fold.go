package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// keyed is a list under merge: its items and where each natural key is. Two
// items of one list may share a key (an OVS bridge and its internal port, the
// two legs of a multipath route), so a key has positions.
type keyed struct {
	items []any
	at    map[string][]int
}

func newKeyed(parent, field string, items []any) *keyed {
	list := &keyed{at: make(map[string][]int, len(items))}
	for _, item := range items {
		list.add(parent, field, item)
	}
	return list
}

func (l *keyed) add(parent, field string, item any) {
	key := state.EntryKey(parent, field, item)
	l.at[key] = append(l.at[key], len(l.items))
	l.items = append(l.items, item)
}

// counterpart is the position of the item that says something about the same
// thing as this one and agrees with it, or -1. When there are such items and
// none agrees, the clash is with the first.
func (l *keyed) counterpart(parent, field string, item any) (int, *clash) {
	var first *clash
	candidates := l.at[state.EntryKey(parent, field, item)]
	if field == "interfaces" {
		candidates = l.ofSameNamespace(candidates, item)
	}
	for _, at := range candidates {
		found := disagreement(parent, field, l.items[at], item)
		if found == nil {
			return at, nil
		}
		if first == nil {
			first = found
		}
	}
	return -1, first
}

// clash is where two trees disagree.
type clash struct {
	path     string
	old, new any
}

func (c *clash) under(segment string) *clash {
	if c == nil {
		return nil
	}
	switch {
	case c.path == "":
		c.path = segment
	case strings.HasPrefix(c.path, "["):
		c.path = segment + c.path
	default:
		c.path = segment + "." + c.path
	}
	return c
}

// disagreement finds the first leaf that both trees set, to different values.
// It changes nothing but how old's lists are held.
func disagreement(parent, field string, old, addition any) *clash {
	switch addition := addition.(type) {
	case map[string]any:
		tree, ok := old.(map[string]any)
		if !ok {
			break
		}
		if purges(parent, field) && (len(tree) == 0) != (len(addition) == 0) {
			break
		}
		if contradictory(field, tree, addition) {
			return &clash{path: "state", old: tree["state"], new: addition["state"]}
		}
		return mapDisagreement(field, tree, addition)
	case []any:
		list, ok := old.(*keyed)
		if !ok {
			break
		}
		for _, item := range addition {
			_, found := list.counterpart(parent, field, item)
			if found == nil {
				found = list.opposite(parent, field, item, addition)
			}
			if found != nil {
				return found.under(itemName(parent, field, item))
			}
		}
		return nil
	default:
		if !isTree(old) && state.Same(old, addition) {
			return nil
		}
	}
	if inner, isList := old.([]any); isList && asJSON(inner) == asJSON(addition) {
		return nil // A list in a list has no name, so it is one value.
	}
	return &clash{old: plain(old), new: addition}
}

// purges tells where having no keys asks for something: that Open vSwitch's
// database has none either.
func purges(parent, field string) bool {
	return field == "external_ids" || field == "other_config" || parent == "" && field == "ovs-db"
}

func mapDisagreement(field string, old, addition map[string]any) *clash {
	for _, key := range slices.Sorted(maps.Keys(addition)) {
		value, there := old[key]
		if !there {
			continue
		}
		if items, isList := value.([]any); isList {
			value = newKeyed(field, key, items)
			old[key] = value
		}
		if found := disagreement(field, key, value, addition[key]); found != nil {
			return found.under(key)
		}
	}
	return nil
}

// unite adds to old what addition says beside it. They do not disagree.
func unite(parent, field string, old, addition any) {
	switch addition := addition.(type) {
	case map[string]any:
		tree := old.(map[string]any)
		for key, value := range addition {
			if have, there := tree[key]; there {
				unite(field, key, have, value)
			} else {
				tree[key] = value
			}
		}
	case []any:
		list, ok := old.(*keyed)
		if !ok {
			return
		}
		for _, item := range addition {
			// A clash here is between two items of this same addition.
			if at, _ := list.counterpart(parent, field, item); at >= 0 {
				unite(parent, field, list.items[at], item)
			} else {
				list.add(parent, field, item)
			}
		}
	}
}

// plain turns the lists back into what a state holds.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = plain(item)
		}
	case *keyed:
		return plain(value.items)
	case []any:
		for i, item := range value {
			value[i] = plain(item)
		}
	}
	return value
}

// itemName is the path segment of a list's item.
func itemName(parent, field string, item any) string {
	return "[" + strings.TrimPrefix(state.EntryKey(parent, field, item), absentRoute) + "]"
}

// ofSameNamespace are the candidates that may be the same interface as the
// item, those of the same type first: an OVS bridge exists beside a kernel
// interface of its name.
func (l *keyed) ofSameNamespace(candidates []int, item any) []int {
	if len(candidates) == 0 {
		return nil
	}
	var same, other []int
	is := interfaceType(item)
	for _, at := range candidates {
		switch have := interfaceType(l.items[at]); {
		case have == is:
			same = append(same, at)
		case state.SameNamespace(have, is):
			other = append(other, at)
		}
	}
	return append(same, other...)
}

func interfaceType(item any) string {
	tree, _ := item.(map[string]any)
	kind, _ := tree["type"].(string)
	return kind
}

func asJSON(item any) string {
	raw, err := json.Marshal(plain(item))
	if err != nil { // It came from JSON.
		panic(fmt.Sprintf("marshalling a part of a network state: %v", err))
	}
	return string(raw)
}

// shownAt is the value at a path as a message shows it.
func shownAt(path string, value any) string {
	const most = 120
	if value == nil && strings.HasSuffix(path, ".state") {
		return "nothing"
	}
	text := asJSON(state.MaskedAt(path, plain(value)))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// nameOf an entry, which may be a number.
func nameOf(entry map[string]any) string {
	if name := entry["name"]; name != nil {
		return fmt.Sprint(name)
	}
	return ""
}

func isTree(value any) bool {
	switch value.(type) {
	case map[string]any, []any, *keyed:
		return true
	}
	return false
}

package state

import (
	"fmt"
	"slices"
	"strings"
)

// OriginalPart is what the originals hold of one interface ("interfaces[eth1]") or of one
// section of the state ("routes", "dns-resolver").
type OriginalPart struct {
	Of   Path
	JSON []byte
	// Unset are the settings that had no value: a patch of an object cannot carry null.
	Unset []string
}

func partOf(of Path, tree map[string]any) OriginalPart {
	part := OriginalPart{Of: of}
	said := part.split(tree, "")
	part.JSON = State{tree: said}.JSON()
	return part
}

// split takes the nulls out of a tree. One whose key has a dot would not be found again.
func (p *OriginalPart) split(tree map[string]any, under string) map[string]any {
	said := map[string]any{}
	for _, key := range sortedKeys(tree) {
		switch value := tree[key].(type) {
		case nil:
			if !strings.Contains(key, ".") {
				p.Unset = append(p.Unset, under+key)
			}
		case map[string]any:
			if inner := p.split(value, under+key+"."); len(inner) > 0 || len(value) == 0 {
				said[key] = inner
			}
		default:
			said[key] = value
		}
	}
	return said
}

// withNulls puts the nulls back.
func (p OriginalPart) withNulls() (map[string]any, error) {
	parsed, err := Parse(p.JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Of, err)
	}
	tree := parsed.tree
	if tree == nil {
		tree = map[string]any{}
	}
	for _, path := range p.Unset {
		keys := strings.Split(path, ".")
		at := tree
		for _, key := range keys[:len(keys)-1] {
			inner, is := at[key].(map[string]any)
			if !is {
				inner = map[string]any{}
				at[key] = inner
			}
			at = inner
		}
		at[keys[len(keys)-1]] = nil
	}
	return tree, nil
}

// Parts are the originals without secrets, the sections first, each in the order of
// their names.
func (o Originals) Parts() []OriginalPart {
	tree := object(Masked(o.tree))
	var parts []OriginalPart
	for _, section := range sortedKeys(tree) {
		if inner := object(tree[section]); section != "interfaces" && len(inner) > 0 {
			parts = append(parts, partOf(Path{Section: section}, inner))
		}
	}
	interfaces := object(tree["interfaces"])
	for _, key := range sortedKeys(interfaces) {
		if inner := object(interfaces[key]); len(inner) > 0 {
			parts = append(parts, partOf(pathOfKey(key), inner))
		}
	}
	return parts
}

// OriginalsOf puts parts together again.
func OriginalsOf(parts []OriginalPart) (Originals, error) {
	tree, interfaces := map[string]any{}, map[string]any{}
	for _, part := range parts {
		whole, err := part.withNulls()
		if err != nil {
			return Originals{}, err
		}
		if part.Of.Section == "interfaces" {
			interfaces[part.Of.interfaceKey()] = whole
			tree["interfaces"] = interfaces
		} else {
			tree[part.Of.Section] = whole
		}
	}
	return Originals{tree: tree}, nil
}

// Knows tells whether anything is remembered of the interface or section of a path.
func (o Originals) Knows(at Path) bool {
	if at.Section == "interfaces" {
		return object(o.tree["interfaces"])[at.interfaceKey()] != nil
	}
	return o.tree[at.Section] != nil
}

// Before is the value that was at a path (as Paths spells it) before it was first owned:
// empty for nothing, and not known where nothing is remembered of it. The entry of a list
// has the value of its whole list. Secrets are masked.
func (o Originals) Before(at Path) (value string, known bool) {
	at = at.canonical()
	switch at.Section {
	case "interfaces":
		was, is := object(o.tree["interfaces"])[at.interfaceKey()].(map[string]any)
		switch {
		case !is:
			return "", false
		case text(was["state"]) == "absent":
			return "", true
		case at.Leaf == "":
			return text(was["state"]), was["state"] != nil
		}
		return valueIn(was, at.Leaf)
	case "routes", "route-rules":
		were, is := object(o.tree[at.Section])[at.String()]
		var all []string
		for _, entry := range objects(were) {
			if at.Section == "routes" {
				all = append(all, routeOf(entry).String())
			} else {
				all = append(all, ruleOf(entry).String())
			}
		}
		return strings.Join(all, ", "), is
	}
	return valueIn(object(o.tree[at.Section]), at.Leaf)
}

// WasAbsent tells whether an interface was not there.
func (o Originals) WasAbsent(path Path) bool {
	was := object(object(o.tree["interfaces"])[path.interfaceKey()])
	return text(was["state"]) == "absent"
}

// valueIn is the value of a tree at a leaf. A family's IP configuration is remembered whole, so what it does not say was not set.
func valueIn(tree map[string]any, leaf string) (string, bool) {
	for _, key := range sortedKeys(tree) {
		if !coversKey(key, leaf) {
			continue
		}
		rest := strings.TrimPrefix(leaf[len(key):], ".")
		switch was := tree[key].(type) {
		case map[string]any:
			if rest == "" {
				return shown(was), true
			}
			value, known := valueIn(was, rest)
			family := Family(key)
			return value, known || family == IPv4 || family == IPv6
		case []any:
			return listed(was), true
		case nil:
			if family := Family(key); rest == "enabled" && (family == IPv4 || family == IPv6) {
				return "false", true // It was off, or is on no interface that is new.
			}
			return "", true
		default:
			return maskedText(key, normalText(text(was))), true
		}
	}
	return "", false
}

// listed are a list's entries as Paths names them.
func listed(items []any) string {
	var all []string
	for _, item := range items {
		all = append(all, itemKey(Masked(item)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// SameJSON tells whether two documents differ in spelling only, such as the order of keys.
func SameJSON(a, b []byte) bool {
	one, errOne := Parse(a)
	other, errOther := Parse(b)
	return errOne == nil && errOther == nil && one.Equal(other)
}

package host

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// tree is an nmstate document, or a part of it, as encoding/json decodes it.
// Trees are shared, so nobody changes one that is not their own.
type tree = map[string]any

func object(value any) tree {
	found, _ := value.(tree)
	return found
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}

func objects(value any) []tree {
	var found []tree
	for _, item := range list(value) {
		if one := object(item); one != nil {
			found = append(found, one)
		}
	}
	return found
}

func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case int:
		return strconv.Itoa(v)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func texts(value any) []string {
	var found []string
	for _, item := range list(value) {
		if t := text(item); t != "" {
			found = append(found, t)
		}
	}
	return found
}

func integer(value any) (int, bool) {
	n, err := strconv.Atoi(text(value))
	return n, err == nil
}

func truth(value any) bool {
	is, _ := value.(bool)
	return is
}

// merged is base with what over says; lists are replaced, null says nothing.
func merged(base, over tree) tree {
	result := maps.Clone(base)
	if result == nil {
		result = tree{}
	}
	for key, value := range over {
		switch value := value.(type) {
		case nil:
		case tree:
			result[key] = merged(object(base[key]), value)
		default:
			result[key] = value
		}
	}
	return result
}

// without is a copy that lacks the keys.
func without(t tree, keys ...string) tree {
	result := maps.Clone(t)
	for _, key := range keys {
		delete(result, key)
	}
	return result
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// prefixOf reads a destination; a bare address is a prefix of full length.
func prefixOf(written string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(written); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), true
	}
	prefix, err := netip.ParsePrefix(written)
	return prefix.Masked(), err == nil
}

func addressOf(entry tree) (netip.Prefix, bool) {
	ip, err := netip.ParseAddr(text(entry["ip"]))
	bits, ok := integer(entry["prefix-length"])
	if err != nil {
		return netip.Prefix{}, false
	}
	if !ok {
		bits = ip.BitLen()
	}
	return netip.PrefixFrom(ip, bits), bits >= 0 && bits <= ip.BitLen()
}

func familyOf(address netip.Addr) string {
	if address.Is4() {
		return "ipv4"
	}
	return "ipv6"
}

// compact is a tree in one line, equal if and only if the tree is.
func compact(t tree) string {
	raw, err := json.Marshal(t)
	if err != nil {
		panic(fmt.Sprintf("host: %v", err))
	}
	return string(raw)
}

func join(items any) string { return strings.Join(texts(items), ",") }

func same(a, b any) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && string(one) == string(other)
}

func capitals(mac string) string { return strings.ToUpper(strings.ReplaceAll(mac, "-", ":")) }

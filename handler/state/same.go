package state

import (
	"net/netip"
	"strings"
)

// What "equal" means is said here once. Merge and conflict, read-back, drift, plan,
// undo and the differences of reports all ask these functions.

// Same tells whether two values mean the same: 1500 and "1500", true and "yes", two
// spellings of an address or a network, MAC addresses in either case. Two texts that
// are no addresses are the same only if they are equal: "010" and "10" are two names.
// Null is the same as null only.
func Same(a, b any) bool {
	switch {
	case a == nil || b == nil:
		return a == nil && b == nil
	case !isScalar(a) || !isScalar(b):
		return encoded(a) == encoded(b)
	case isBool(a) || isBool(b):
		one, ok := truth(a)
		other, also := truth(b)
		return ok && also && one == other
	}
	if !isText(a) || !isText(b) {
		one, ok := integer(a)
		other, also := integer(b)
		if ok && also {
			return one == other
		}
	}
	return normalText(text(a)) == normalText(text(b))
}

// normalText spells addresses in one way and leaves the rest alone.
func normalText(written string) string {
	if len(written) == 17 && strings.Count(written, ":")+strings.Count(written, "-") == 5 {
		return normalMAC(written)
	}
	if address, err := netip.ParseAddr(written); err == nil {
		return address.Unmap().String()
	}
	if prefix, err := netip.ParsePrefix(written); err == nil {
		return prefix.String()
	}
	return written
}

// EntryKey is what makes two entries of a list be about the same thing: the name of a
// port, an address with its length, the destination, next hop and table of a route. An
// entry without such a key is itself: so are route rules and values.
func EntryKey(section, list string, entry any) string {
	tree := object(entry)
	if tree != nil && list == "config" {
		if section == "routes" {
			return routeOf(tree).key()
		}
		return spelt(tree)
	}
	return itemKey(entry)
}

// key tells routes apart that lead to different places. No table, table 0 and table
// 254 are all the main table. What is to be absent is a filter and no route.
func (r Route) key() string {
	r.NextHopAddress, r.HasMetric = "", false
	if r.Absent {
		return "absent " + r.String()
	}
	return r.String()
}

// itemKey is what tells the entries of a list apart.
func itemKey(item any) string {
	tree := object(item)
	if tree == nil {
		return normalText(text(item))
	}
	if key := naturalKey(tree); key != "" {
		return entryName(tree, key)
	}
	return spelt(tree)
}

// naturalKey is the key by which the entries of a list are told apart.
func naturalKey(tree map[string]any) string {
	for _, key := range []string{"name", "id", "ip", "localnet", "from"} {
		if tree[key] != nil {
			return key
		}
	}
	return ""
}

// entryName tells two addresses apart that differ in the prefix only.
func entryName(tree map[string]any, key string) string {
	if key == "ip" {
		return normalAddress(tree)
	}
	return normalText(text(tree[key]))
}

// SameNamespace tells whether interfaces of the two types cannot both have one name: an
// OVS bridge and its internal interface may. Without a type it may be of any.
func SameNamespace(kind, other string) bool {
	return kind == "" || other == "" || kind == other || isUserspace(kind) == isUserspace(other)
}

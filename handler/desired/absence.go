package desired

import (
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

const absent = "absent"

// contradictory tells whether one policy takes an entry away and another one says
// something of it: no leaf disagrees, and the entry would go without a word.
func contradictory(field string, old, addition map[string]any) bool {
	if field != "interfaces" && field != "bridge-mappings" {
		return false
	}
	gone, goes := old["state"] == absent, addition["state"] == absent
	return gone != goes && (gone && saysMore(addition) || goes && saysMore(old))
}

// saysMore tells whether an entry says more than which one it is.
func saysMore(entry map[string]any) bool {
	for key := range entry {
		switch key {
		case "name", "type", "identifier", "mac-address", "pci-address", "profile-name", "localnet":
		default:
			return true
		}
	}
	return false
}

// absentRoute begins the key of a route that is to be absent.
const absentRoute = "absent "

// opposite is the clash with an entry that is wanted where this one takes it away, or the
// other way round. A policy may say both, which replaces a route.
func (l *keyed) opposite(parent, field string, item any, addition []any) *clash {
	if parent != "routes" || field != "config" {
		return nil
	}
	key := state.EntryKey(parent, field, item)
	other, goes := strings.CutPrefix(key, absentRoute)
	if !goes {
		other = absentRoute + key
	}
	at := l.at[other]
	if len(at) == 0 || len(l.at[key]) > 0 {
		return nil
	}
	for _, beside := range addition {
		if state.EntryKey(parent, field, beside) == other {
			return nil
		}
	}
	said := func(entry any) any { return objectOf(entry)["state"] }
	return &clash{path: "state", old: said(l.items[at[0]]), new: said(item)}
}

func objectOf(entry any) map[string]any {
	tree, _ := entry.(map[string]any)
	return tree
}

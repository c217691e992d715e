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
	if gone == goes {
		return false
	}
	stays := old
	if gone {
		stays = addition
	}
	for key := range stays {
		switch key {
		case "name", "type", "identifier", "mac-address", "pci-address", "profile-name", "localnet":
		default: // It says more than which entry it is.
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
	old, _ := l.items[at[0]].(map[string]any)
	next, _ := item.(map[string]any)
	return &clash{path: "state", old: old["state"], new: next["state"]}
}

package state

import (
	"slices"
	"strings"
)

// level is a place that has keys: its path, and the keys that it knows.
type level struct {
	path  string
	known keys
}

// placed completes the message about a key that its place does not know. A
// suggestion is a key of the same place; one that belongs to another place is
// told with that place.
func (c *checker) placed(key string) string {
	around := c.above[:len(c.above)-1]
	here := c.above[len(c.above)-1]
	if near := suggestion(key, here.known); near != "" {
		return near
	}
	for _, outer := range slices.Backward(around) {
		if _, is := outer.known[key]; is {
			return ": it belongs to " + outer.name()
		}
	}
	if below := c.below(key, here); len(below) > 0 {
		return ": it belongs to " + strings.Join(below, ", ")
	}
	for _, outer := range slices.Backward(around) {
		if near := suggestion(key, outer.known); near != "" {
			return strings.TrimSuffix(near, "?") + " of " + outer.name() + "?"
		}
	}
	return ""
}

func (l level) name() string {
	if l.path == "" {
		return "the top of the desired state"
	}
	return l.path
}

// below are the places, one level further down, that have the key.
func (c *checker) below(key string, here level) []string {
	var found []string
	for _, name := range sortedSchemas(here.known) {
		inside, entry := here.known[name], ""
		if inside != nil && inside.kind == aList {
			inside, entry = inside.item, "[]"
		}
		if inside == nil {
			continue
		}
		known := inside.keys
		if inside.kind == anInterface {
			known = joinKeys(c.base, c.everySection())
		}
		if _, is := known[key]; is {
			found = append(found, joinPath(here.path, name)+entry)
		}
	}
	return found
}

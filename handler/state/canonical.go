package state

import "maps"

// Canonical is a desired state in the one form in which policies are merged,
// kept, applied and compared. Two documents that ask for the same have the same
// canonical form, as far as nmstate's spellings go:
//
//   - a key or a word that has several names has the first of them (link-aggregation
//     for bond, 802.3ad for "4"),
//   - a number is a number, true is true and text is text, however they are written,
//   - a MAC address has colons, and a network its length and no host bits,
//   - a key with null says nothing and is left out. In a column of Open vSwitch's
//     database null says a lot: it takes the key away, and stays.
func Canonical(s State) State {
	if s.tree == nil {
		return State{}
	}
	tree := copiedObject(s.tree)
	dropNulls(tree)
	speller{canonical: true}.keyed(vocabulary.state, tree)
	return State{tree: tree}
}

// Typed gives numbers, true and false that are written as text their own
// types, wherever nmstate wants such a value: what a template is replaced by
// is text at first. Text that is no such value stays, for ParseDesired to
// refuse.
func Typed(s State) State {
	tree := copiedObject(s.tree)
	speller{}.keyed(vocabulary.state, tree)
	return State{tree: tree}
}

// dropNulls leaves out of a document what is null, but for keys of Open vSwitch's
// database. A column of the node that is null is one that is not named.
func dropNulls(tree map[string]any) {
	columns := object(tree["ovs-db"])
	maps.DeleteFunc(columns, func(_ string, keys any) bool { return keys == nil })
	withoutNulls(tree)
}

// withoutNulls knows that nmstate reads a column of an interface or a bond that is
// null as an empty one.
func withoutNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			switch columns := object(item); {
			case item == nil:
				delete(value, key)
			case key == "ovs-db" && columns != nil:
				for column, values := range columns {
					if values == nil {
						columns[column] = map[string]any{}
					}
				}
			default:
				withoutNulls(item)
			}
		}
	case []any:
		for _, item := range value {
			withoutNulls(item)
		}
	}
}

// speller goes through a document by the tables of what nmstate accepts.
type speller struct {
	// canonical: names and words get their first spelling too.
	canonical bool
}

// value is the value as it is to stand; objects and lists are changed in place.
func (w speller) value(s *schema, value any) any {
	if s == nil || value == nil || isTemplate(value) {
		return value
	}
	switch s.kind {
	case aKeyed:
		w.keyed(s.keys, object(value))
	case aMap:
		w.free(s, object(value))
	case aList:
		for i, item := range list(value) {
			list(value)[i] = w.value(s.item, item)
		}
	case anInterface:
		w.inter(object(value))
	case aSwitch:
		w.keyed(s.keys, object(value))
		if is, ok := truth(value); ok && isText(value) && w.canonical {
			return is
		}
	case aWhole, aNumber:
		if number, ok := integer(value); ok && isText(value) {
			return copied(number)
		}
	case aBool, aFlag:
		if is, ok := truth(value); ok && (w.canonical || isText(value)) {
			return is
		}
	case aText, aWord, aChoice, aNetwork, aMAC:
		if w.canonical && isScalar(value) && (s.kind != aText || isText(value)) {
			return s.word(text(value))
		}
	}
	return value
}

// word is text in its canonical spelling.
func (s *schema) word(written string) string {
	switch s.kind {
	case aNetwork:
		return normalPrefix(written)
	case aMAC:
		return colons(written)
	}
	if first, is := s.first[written]; is {
		return first
	}
	return written
}

func isScalar(value any) bool { return object(value) == nil && list(value) == nil }

func (w speller) keyed(known keys, tree map[string]any) {
	for _, key := range sortedKeys(tree) {
		s := known[key]
		value := w.value(s, tree[key])
		tree[key] = value
		if w.canonical && s != nil && s.alias != "" {
			renamed(tree, key, s.alias)
		}
	}
}

// free are keys that nmstate does not know by name, but for second ones.
func (w speller) free(s *schema, tree map[string]any) {
	for _, key := range sortedKeys(tree) {
		tree[key] = w.value(s.item, tree[key])
		if first, is := s.first[key]; is && w.canonical {
			renamed(tree, key, first)
		}
	}
}

// renamed: by both names a key has one value, or ParseDesired has refused it.
func renamed(tree map[string]any, from, to string) {
	if _, said := tree[to]; !said {
		tree[to] = tree[from]
	}
	delete(tree, from)
}

// inter takes the sections of every type where the type is not said, or is one that
// nmstate only reports.
func (w speller) inter(tree map[string]any) {
	known, is := vocabulary.whole[text(tree["type"])]
	if !is {
		known = vocabulary.whole[""]
	}
	w.keyed(known, tree)
}

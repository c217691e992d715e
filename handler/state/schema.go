package state

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// schema says what nmstate accepts at one place of a document. The tables in
// schema_*.go are read off the types of the Rust crate nmstate 2.2.62, second
// names of keys and second spellings of values included.
type schema struct {
	kind kind
	// keys of an object, and those of them that it must have.
	keys     keys
	required []string
	// either: of these keys an object has one.
	either []string
	// item of a list, or of an object with free keys.
	item *schema
	// values of a choice.
	values []string
	// within bounds a whole number; nil for none.
	within *bounds
	// family of an address; empty for both.
	family Family
	// shape of a text, and what is expected in words.
	shape    *regexp.Regexp
	expected string
	// why it is refused.
	why string
	// alias: the key is a second name of this one.
	alias string
	// first spelling of words, or of free keys, that have several.
	first map[string]string
}

type keys map[string]*schema

type kind int

const (
	anything    kind = iota
	aText            // A string.
	aWord            // A string, or a number, true or false that stands for its text.
	aMAC             // A MAC address.
	aShape           // A string or number of a shape.
	aScalar          // A string, a number, true or false.
	aWhole           // A whole number, or one written as text.
	aNumber          // A whole number that is not written as text.
	aSigned          // The same, and it may be negative.
	aBool            // true, false, or one of nmstate's words for them.
	aFlag            // true or false and no word for it.
	anIP             // An address without a prefix length.
	aNetwork         // An address with a prefix length, or without one; or nothing.
	aChoice          // One of some values.
	aKeyed           // An object with known keys.
	aMap             // An object with free keys.
	aList            // A list.
	aSwitch          // Text or true or false, or an object with known keys.
	anInterface      // An entry of the list of interfaces.
	aRefusal         // What nmstate has and we do not do.
)

// bounds of a whole number, both of them allowed: beyond them are what neither
// nmstate nor NetworkManager nor the kernel ever takes.
type bounds struct{ least, most int64 }

// bounds are those of the table, or of the types that nmstate mostly has: 32 bits
// without a sign, and 64 with one.
func (s *schema) bounds() bounds {
	switch {
	case s.within != nil:
		return *s.within
	case s.kind == aSigned:
		return bounds{math.MinInt64, math.MaxInt64}
	}
	return bounds{0, math.MaxUint32}
}

// large are whole numbers of 64 bits.
func large(kind kind, names ...string) keys {
	return each(&schema{kind: kind, within: &bounds{0, math.MaxInt64}}, names...)
}

// small are whole numbers that are not written as text, up to the most.
func small(most int64, names ...string) keys {
	return each(&schema{kind: aNumber, within: &bounds{0, most}}, names...)
}

func of(kind kind) *schema { return &schema{kind: kind} }
func between(least, most int64) *schema {
	return &schema{kind: aWhole, within: &bounds{least, most}}
}
func choice(values ...string) *schema { return &schema{kind: aChoice, values: values} }
func listOf(item *schema) *schema     { return &schema{kind: aList, item: item} }
func mapOf(item *schema) *schema      { return &schema{kind: aMap, item: item} }
func keyed(parts ...keys) *schema     { return &schema{kind: aKeyed, keys: joinKeys(parts...)} }
func switchOr(parts ...keys) *schema  { return &schema{kind: aSwitch, keys: joinKeys(parts...)} }

// needs says which keys an object must have.
func (s *schema) needs(names ...string) *schema {
	s.required = names
	return s
}

// hasOneOf says of which keys an object must have one.
func (s *schema) hasOneOf(names ...string) *schema {
	s.either = names
	return s
}

// shaped is text of a shape.
func shaped(pattern, expected string) *schema {
	return &schema{kind: aShape, shape: regexp.MustCompile(pattern), expected: expected}
}

func alias(of string, s *schema) *schema {
	same := *s
	same.alias = of
	return &same
}

// words are a choice in which some have another spelling, or several.
func words(first map[string]string, values ...string) *schema {
	return &schema{kind: aChoice, values: append(values, slices.Sorted(maps.Keys(first))...), first: first}
}

// numbered are words that may be written as their number, from 0 on.
func numbered(values ...string) *schema {
	first := map[string]string{}
	for i, value := range values {
		first[strconv.Itoa(i)] = value
	}
	return words(first, values...)
}

func refused(why string) *schema          { return &schema{kind: aRefusal, why: why} }
func all(kind kind, names ...string) keys { return each(of(kind), names...) }

func each(one *schema, names ...string) keys {
	table := make(keys, len(names))
	for _, name := range names {
		table[name] = one
	}
	return table
}

func joinKeys(parts ...keys) keys {
	table := keys{}
	for _, part := range parts {
		maps.Copy(table, part)
	}
	return table
}

// vocabulary is all that nmstate accepts. It is made once: a table of some
// thousand keys, and every document is read by it.
var vocabulary = struct {
	state keys
	// base and types are those of an interface.
	base  keys
	types map[string]keys
	// whole are both together, by type.
	whole map[string]keys
}{stateKeys(), baseKeys(), typeKeys(), interfaceKeys()}

// interfaceKeys are all keys of an interface by its type, and for "" those of every
// type: what a section of one name holds differs little.
func interfaceKeys() map[string]keys {
	whole, every := map[string]keys{}, baseKeys()
	types := typeKeys()
	for _, name := range sortedNames(types) {
		if sections := types[name]; sections != nil {
			whole[name] = joinKeys(baseKeys(), sections)
		}
		for key, s := range types[name] {
			if every[key] == nil {
				every[key] = s
			}
		}
	}
	whole[""] = every
	return whole
}

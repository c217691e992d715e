package state

import (
	"maps"
	"regexp"
)

// schema says what nmstate accepts at one place of a document, second names of
// keys and second spellings of values included. It is compiled from nmstate's own
// source (nmstate.go) and from what is added by hand (by_hand.go).
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
	// within bounds a whole number.
	within bounds
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
	aWhole           // A whole number, or one written as text.
	aNumber          // A whole number that is not written as text.
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
	byCode           // What nmstate reads with code of its own: a rule of byHand.
)

// bounds of a whole number, both of them allowed: beyond them are what neither
// nmstate nor NetworkManager nor the kernel ever takes.
type bounds struct{ least, most int64 }

func alias(of string, s *schema) *schema {
	same := *s
	same.alias = of
	return &same
}

func joinKeys(parts ...keys) keys {
	table := keys{}
	for _, part := range parts {
		maps.Copy(table, part)
	}
	return table
}

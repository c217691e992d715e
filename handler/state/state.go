package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// State is an nmstate network state. The zero value is the empty state. A
// State is immutable: functions that change one return another.
type State struct {
	tree map[string]any
}

// Parse reads the JSON form of a state without checking its keys: it is for
// what libnmstate reports and what was stored. Numbers keep their digits.
// No bytes at all, and null, are the empty state.
func Parse(raw []byte) (State, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return State{}, nil
	}
	if tree, ok := read(raw); ok {
		return State{tree: tree}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil {
		return State{}, fmt.Errorf("reading the network state: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("reading the network state: there is more after its end")
	}
	return State{tree: tree}, nil
}

// FromTree makes a state of a tree of Go values as encoding/json decodes
// them. The tree is copied.
func FromTree(tree map[string]any) State { return State{tree: copiedObject(tree)} }

// Tree is a deep copy of the whole state. Numbers are json.Number.
func (s State) Tree() map[string]any { return copiedObject(s.tree) }

// JSON is the state's canonical form: keys sorted, no white space.
func (s State) JSON() []byte {
	if s.tree == nil {
		return []byte("{}")
	}
	return appended(nil, s.tree)
}

// IsEmpty tells whether the state says nothing at all.
func (s State) IsEmpty() bool { return len(s.tree) == 0 }

// Equal tells whether two states are the same document, key order aside. It
// compares spelling, not meaning: that is for Missing and Diff.
func (s State) Equal(other State) bool { return sameObject(s.tree, other.tree) }

// Hash identifies the document: the SHA-256 of JSON, in hexadecimal.
func (s State) Hash() string {
	sum := sha256.Sum256(s.JSON())
	return hex.EncodeToString(sum[:])
}

package state

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// State is an nmstate network state. The zero value is the empty state. A
// State is immutable: functions that change one return another.
type State struct {
	tree map[string]any
}

// Parse reads the JSON form of a state without checking its keys: it is for
// what libnmstate reports and what was stored. Numbers keep their digits.
func Parse(raw []byte) (State, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return State{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree map[string]any
	if err := decoder.Decode(&tree); err != nil {
		return State{}, fmt.Errorf("reading the network state: %w", err)
	}
	return State{tree: tree}, nil
}

// JSON is the state's canonical form: keys sorted, no white space.
func (s State) JSON() []byte {
	if s.tree == nil {
		return []byte("{}")
	}
	raw, err := json.Marshal(s.tree)
	if err != nil { // The tree came from JSON, so it goes back to JSON.
		panic(fmt.Sprintf("marshalling a network state: %v", err))
	}
	return raw
}

// IsEmpty tells whether the state says nothing at all.
func (s State) IsEmpty() bool { return len(s.tree) == 0 }

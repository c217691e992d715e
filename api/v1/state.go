package v1

import (
	"bytes"
	"slices"
)

// State is an nmstate network state. Its schema is nmstate's, so the API
// server keeps it as it is; handler/state reads it.
//
// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:object:generate=false
type State struct {
	// Raw is the state as JSON. Nobody changes the bytes: copies share them.
	Raw []byte `json:"-"`
}

// DeepCopyInto shares the document, which may be a megabyte and is never changed.
func (s *State) DeepCopyInto(out *State) { out.Raw = slices.Clip(s.Raw) }

// DeepCopy is a state of its own with the same document.
func (s *State) DeepCopy() *State {
	if s == nil {
		return nil
	}
	out := &State{}
	s.DeepCopyInto(out)
	return out
}

// NewState wraps the JSON of an nmstate state.
func NewState(raw []byte) State { return State{Raw: raw} }

// MarshalJSON writes the state as the JSON object that it is.
func (s State) MarshalJSON() ([]byte, error) {
	if len(s.Raw) == 0 {
		return []byte("null"), nil
	}
	return s.Raw, nil
}

// UnmarshalJSON keeps the object's text.
func (s *State) UnmarshalJSON(raw []byte) error {
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		s.Raw = nil
		return nil
	}
	s.Raw = bytes.Clone(raw)
	return nil
}

// IsZero lets `omitzero` leave an absent state out.
func (s State) IsZero() bool { return len(s.Raw) == 0 }

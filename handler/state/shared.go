package state

import (
	"encoding/json"
	"hash/maphash"
)

// Shared makes states of trees, and lets them have the parts in common that are alike. It
// is for whoever keeps many states that differ little. It is used by one goroutine.
type Shared struct {
	seed  maphash.Seed
	parts map[uint64]any
}

// mostParts bounds what is remembered; states that are there keep what they share.
const mostParts = 1 << 16

// NewShared has no parts yet.
func NewShared() *Shared { return &Shared{maphash.MakeSeed(), map[uint64]any{}} }

// FromTree is FromTree.
func (s *Shared) FromTree(tree map[string]any) State {
	if tree == nil {
		return State{}
	}
	made := make(map[string]any, len(tree))
	for key, value := range tree {
		made[key], _ = s.value(value)
	}
	return State{tree: made}
}

// value is a value's copy, or one that is the same, with its hash.
func (s *Shared) value(value any) (any, uint64) {
	switch v := value.(type) {
	case map[string]any:
		made, hash := make(map[string]any, len(v)), uint64(len(v))
		for key, one := range v {
			part, of := s.value(one)
			made[key] = part
			hash += mixed(maphash.String(s.seed, key), of) // In whatever order.
		}
		return s.part(made, hash)
	case []any:
		made, hash := make([]any, len(v)), ^uint64(len(v))
		for i, one := range v {
			part, of := s.value(one)
			made[i] = part
			hash = mixed(hash, of)
		}
		return s.part(made, hash)
	case string:
		return v, maphash.String(s.seed, v)
	case json.Number:
		return v, ^maphash.String(s.seed, string(v))
	case nil:
		return nil, 1
	case bool:
		if v {
			return v, 2
		}
		return v, 3
	}
	return s.value(copied(value))
}

// part is what is remembered instead of a value, if anything is.
func (s *Shared) part(made any, hash uint64) (any, uint64) {
	known, is := s.parts[hash]
	switch {
	case is && sameTree(known, made):
		return known, hash
	case is: // Two that differ: the first one stays.
		return made, hash
	case len(s.parts) >= mostParts:
		clear(s.parts)
	}
	s.parts[hash] = made
	return made, hash
}

func mixed(a, b uint64) uint64 {
	const prime = 0x9E3779B97F4A7C15
	return (a^b>>29)*prime + b*0xBF58476D1CE4E5B9 ^ a>>31
}

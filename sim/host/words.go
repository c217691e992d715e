package host

import (
	"fmt"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Words are the states that nmstate's parser has read: many hosts are brought
// to the same one. Shared are the parts that what they show has in common: nearly all of it.
type Words struct {
	known  map[string]reading
	shared *state.Shared
}

type reading struct {
	state state.State
	err   error
}

// NewWords that hosts can share.
func NewWords() *Words { return &Words{map[string]reading{}, state.NewShared()} }

// mostWords bounds what is remembered.
const mostWords = 1000

// read is the state with every value of its own type, or why nmstate refuses it.
func (w *Words) read(desired state.State) (state.State, error) {
	raw := string(desired.JSON())
	if found, ok := w.known[raw]; ok {
		return found.state, found.err
	}
	found := reading{state: state.Typed(desired)}
	if _, err := state.ParseDesired([]byte(raw)); err != nil {
		found = reading{err: fmt.Errorf("%w: %w", backend.ErrInvalid, err)}
	} else if circle := state.Cycle(desired); circle != "" {
		found = reading{err: invalid("interfaces stand on each other in a circle: %s", circle)}
	}
	if len(w.known) >= mostWords {
		clear(w.known)
	}
	w.known[raw] = found
	return found.state, found.err
}

package nmstate

import (
	"fmt"

	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Captures resolves a policy's captures with libnmstate. It reads nothing but
// its arguments.
type Captures struct{}

// Resolve renders a policy, given as JSON, against the node's current state.
// The library does not tell the captured states.
func (Captures) Resolve(policyJSON []byte, current state.State) (state.State, map[string]state.State, error) {
	rendered, err := library.New().NetStateFromPolicy(string(policyJSON), string(current.JSON()))
	if err != nil {
		return state.State{}, nil, classified(failureOf(err))
	}
	resolved, err := state.Parse([]byte(rendered))
	if err != nil {
		return state.State{}, nil, fmt.Errorf("reading the resolved policy: %w", err)
	}
	return resolved, nil, nil
}

package nmstate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	library "github.com/nmstate/kubernetes-nmstate/handler/libnmstate"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Captures resolves a policy's captures with nmstate. It reads nothing but its
// arguments.
type Captures struct {
	// Helper is the path of nmstate-revert. Without it the library's C
	// interface is asked, which tells no captured states and leaves out of the
	// rendered state what the node has already.
	Helper string
}

// Resolve renders a policy, given as JSON, against the node's current state,
// and tells what each capture is.
func (c Captures) Resolve(ctx context.Context, policyJSON []byte, current state.State) (state.State, map[string]state.State, error) {
	if c.Helper == "" {
		rendered, err := c.asDifference(policyJSON, current)
		return rendered, nil, err
	}
	request, err := json.Marshal(map[string]json.RawMessage{"policy": policyJSON, "current": current.JSON()})
	if err != nil {
		return state.State{}, nil, fmt.Errorf("reading the policy: %w", err)
	}
	helper := process{path: c.Helper, args: []string{"resolve"}, stdin: bytes.NewReader(request)}
	out, err := helper.run(ctx)
	if err != nil {
		return state.State{}, nil, helperFailed(err)
	}
	var resolved struct {
		Desired  json.RawMessage            `json:"desired"`
		Captured map[string]json.RawMessage `json:"captured"`
	}
	if err := json.Unmarshal(out, &resolved); err != nil {
		return state.State{}, nil, fmt.Errorf("reading the resolved policy: %w", err)
	}
	rendered, err := state.Parse(resolved.Desired)
	if err != nil {
		return state.State{}, nil, fmt.Errorf("reading the resolved policy: %w", err)
	}
	captured := make(map[string]state.State, len(resolved.Captured))
	for name, raw := range resolved.Captured {
		if captured[name], err = state.Parse(raw); err != nil {
			return state.State{}, nil, fmt.Errorf("reading capture %s: %w", name, err)
		}
	}
	return rendered, captured, nil
}

func (Captures) asDifference(policyJSON []byte, current state.State) (state.State, error) {
	rendered, err := library.New().NetStateFromPolicy(string(policyJSON), string(current.JSON()))
	if err != nil {
		return state.State{}, classified(failureOf(err))
	}
	resolved, err := state.Parse([]byte(rendered))
	if err != nil {
		return state.State{}, fmt.Errorf("reading the resolved policy: %w", err)
	}
	return resolved, nil
}

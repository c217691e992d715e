package nmstate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Revert implements backend.Backend.
func (b *Backend) Revert(ctx context.Context, desired, current state.State) (state.State, error) {
	if b.options.RevertHelper == "" {
		return before(desired, current), nil
	}
	reverted, err := b.runHelper(ctx, desired, current)
	if err != nil {
		return state.State{}, fmt.Errorf("computing the way back: %w", err)
	}
	return state.CompleteRevert(reverted, current), nil
}

func (b *Backend) runHelper(ctx context.Context, desired, current state.State) (state.State, error) {
	request, err := json.Marshal(map[string]json.RawMessage{"desired": desired.JSON(), "current": current.JSON()})
	if err != nil {
		return state.State{}, err
	}
	helper := process{path: b.options.RevertHelper, stdin: bytes.NewReader(request)}
	out, err := helper.run(ctx)
	if err == nil {
		return state.Parse(out)
	}
	return state.State{}, helperFailed(err)
}

// helperFailed is the helper's error in nmstate's words, where it said any.
func helperFailed(err error) error {
	var refused failure
	if json.Unmarshal([]byte(failedWord(err)), &refused) == nil && refused.Kind != "" {
		return classified(refused)
	}
	return err
}

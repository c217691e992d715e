package agent

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// undoReadTimeout bounds the read that an undo is computed from.
const undoReadTimeout = 30 * time.Second

// undo is what to apply beside the difference of the aggregates, so that what
// leaves the desired state goes back to what was there before it. A removal
// that was kept is not undone again.
func (a *Agent) undo(ctx context.Context, nns *v1.NodeNetworkState, desired state.State) (state.State, error) {
	reverts := record.Reverted(a.record.Record, nns.Spec.Sources, a.hashOf(nns.Spec.DesiredState))
	if len(reverts) == 0 {
		return state.State{}, nil
	}
	from, err := state.Parse(a.record.Committed.Desired)
	if err != nil {
		return state.State{}, fmt.Errorf("reading the committed state: %w", err)
	}
	originals, err := state.ParseOriginals(a.record.Originals)
	if err != nil {
		return state.State{}, err
	}
	readCtx, cancel := deadline.After(ctx, a.Clock, undoReadTimeout)
	defer cancel()
	current, err := a.Backend.Show(readCtx)
	if err != nil {
		return state.State{}, fmt.Errorf("reading the node's network: %w", err)
	}
	return state.Undo(from, desired, reverts, originals, current), nil
}

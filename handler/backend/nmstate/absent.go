package nmstate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// absences splits a state for the child. foreign are the software interfaces
// that are to be absent and that no profile made: in memory-only mode nmstate
// leaves them, and then fails for their sake. The child does not hear of them, and
// they are deleted under its checkpoint when it is done, which can bring them back.
// The others' absence is spelled out.
func (b *Backend) absences(ctx context.Context, devices map[string]known, desired state.State) (forChild state.State, foreign []string, err error) {
	absent := func(one state.Interface) bool { return one.IsAbsent() }
	if !slices.ContainsFunc(desired.Interfaces(), absent) {
		return desired, nil, nil
	}
	current, err := b.Show(ctx)
	if err != nil {
		return state.State{}, nil, err
	}
	desired = state.SpellOutAbsence(desired, current)
	var kept []any
	for _, one := range desired.Interfaces() {
		if absent(one) && devices[one.Name].foreign() {
			foreign = append(foreign, one.Name)
		} else {
			kept = append(kept, one.Tree())
		}
	}
	if len(foreign) == 0 {
		return desired, nil, nil
	}
	tree := desired.Tree()
	tree["interfaces"] = kept
	return state.FromTree(tree), foreign, nil
}

// deleteForeign deletes software interfaces; one that went by itself is fine.
func (m *systemBus) deleteForeign(ctx context.Context, names []string) error {
	for _, name := range names {
		path, err := m.device(ctx, name)
		if err == nil {
			err = m.call(ctx, answerWithin, path, deviceName+".Delete").Err
		}
		if err != nil && !errors.Is(err, backend.ErrGone) {
			// Not wrapped: the rest of the change is there.
			return fmt.Errorf("deleting %s, which is to be absent: %v", name, err)
		}
	}
	return nil
}

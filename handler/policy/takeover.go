package policy

import (
	"context"
	"fmt"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// takeOver replaces enactments of the older project by ours. Where the process ends
// between the two writes, what the older one told is lost, and the policy begins there as
// any other does.
func (r *Reconciler) takeOver(ctx context.Context, m *memory, g *gathered, enactments []*v1.NodeNetworkConfigurationEnactment) (bool, error) {
	for _, next := range enactments {
		if older := g.enacted[next.Policy()]; older != nil {
			if err := r.remove(ctx, m, older); err != nil {
				return false, fmt.Errorf("replacing the older project's enactment %s: %w", older.Name, err)
			}
		}
		if fresh, err := r.create(ctx, m, g, next); !fresh || err != nil {
			return false, err
		}
	}
	return true, nil
}

package policy

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// verifyReads reads from the API server itself what the decision relies on. It returns
// false where a cache has shown something else: then the next turn decides anew.
func (r *Reconciler) verifyReads(ctx context.Context, m *memory, g *gathered, d desired.Decision) (bool, error) {
	for _, relied := range g.input.Relies(d, m.started) {
		holds, err := r.holds(ctx, m, g, relied)
		if err != nil {
			return false, err
		}
		if !holds {
			log.FromContext(ctx).Info("decide anew: the API server has something else than the cache has shown", "shown", relied.String())
			return false, nil
		}
	}
	return true, nil
}

// holds tells whether the API server has the object as the decision takes it to be.
func (r *Reconciler) holds(ctx context.Context, m *memory, g *gathered, relied desired.Reliance) (bool, error) {
	switch relied := relied.(type) {
	case desired.StateAt:
		live, err := readLive(ctx, r.Live, "NodeNetworkState", g.input.Node, &v1.NodeNetworkState{})
		if err != nil {
			return false, err
		}
		if live != nil {
			m.state = live // The next turn decides on it.
		}
		m.started = m.started || relied.Holds(live)
		return relied.Holds(live), nil
	case desired.StateWithout:
		live, err := readLive(ctx, r.Live, "NodeNetworkState", g.input.Node, &v1.NodeNetworkState{})
		return err == nil && relied.Holds(live), err
	case desired.EnactmentAt:
		live, err := r.liveEnactment(ctx, relied.Names, g.input.Node, relied.Policy)
		return err == nil && relied.Holds(live), err
	case desired.PolicyStays:
		live, err := readLive(ctx, r.Live, "policy", relied.Name, &v1.NodeNetworkConfigurationPolicy{})
		return err == nil && relied.Holds(live, g.node), err
	case desired.PolicyLeaves:
		live, err := readLive(ctx, r.Live, "policy", relied.Name, &v1.NodeNetworkConfigurationPolicy{})
		leaves := err == nil && relied.Holds(live, g.node)
		if err != nil || leaves || relied.GivenUp.Policy == "" {
			return leaves, err
		}
		return r.holds(ctx, m, g, relied.GivenUp)
	}
	return false, fmt.Errorf("verifying a %T: nobody knows how", relied)
}

// readLive reads an object from the API server itself; nil where there is none.
func readLive[T interface {
	client.Object
	comparable
}](ctx context.Context, api client.Reader, what, name string, into T) (T, error) {
	var none T
	switch err := api.Get(ctx, client.ObjectKey{Name: name}, into); {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("reading %s %s live: %w", what, name, err)
	}
	return into, nil
}

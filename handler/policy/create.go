package policy

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// create makes an enactment under the first of its names that is not that of another
// node's or policy's. It returns false when the enactment is there after all.
func (r *Reconciler) create(ctx context.Context, m *memory, g *gathered, enactment *v1.NodeNetworkConfigurationEnactment) (bool, error) {
	node, policy := g.input.Node, enactment.Policy()
	names := v1.EnactmentNames(node, g.input.NodeUID, policy)
	// Where a cache that is late does not show it under its second name, and the
	// first one is free by now, there would be two.
	if there, err := r.liveEnactment(ctx, names[1:], node, policy); there != nil || err != nil {
		return false, err
	}
	for _, name := range names {
		enactment.Name = name
		err := r.Client.Create(ctx, enactment)
		switch {
		case err == nil:
			m.enactments[name] = writtenEnactment{object: enactment, at: r.Clock.Now()}
			return true, nil
		case apierrors.IsForbidden(err) || apierrors.IsInvalid(err):
			return false, r.cannotMake(g, policy, fmt.Errorf("creating enactment %s: %w", name, err))
		case !apierrors.IsAlreadyExists(err):
			return false, fmt.Errorf("creating enactment %s: %w", name, err)
		}
		if there, err := readLive(ctx, r.Live, "enactment", name, &v1.NodeNetworkConfigurationEnactment{}); there == nil || isAbout(there, node, policy) {
			return false, err
		}
		log.FromContext(ctx).Info("the name of an enactment is that of another one", "policy", policy, "name", name)
	}
	return false, r.cannotMake(g, policy, fmt.Errorf(
		"the enactment of policy %s cannot be made: another node or policy has the name %s; delete it", policy, strings.Join(names, " and ")))
}

// cannotMake tells on the policy why it does not get on, since there is no enactment
// to say so.
func (r *Reconciler) cannotMake(g *gathered, policy string, err error) error {
	if object := g.policies[policy]; object != nil && r.Events != nil {
		r.Events.Eventf(object, g.node, corev1.EventTypeWarning, desired.EventReconcileFailed, "Configure", "%s", cut("node "+g.input.Node+": "+err.Error()))
	}
	return err
}

// liveEnactment reads the enactment of a policy on a node by the names that it may
// have; nil where there is none.
func (r *Reconciler) liveEnactment(ctx context.Context, names []string, node, policy string) (*v1.NodeNetworkConfigurationEnactment, error) {
	for _, name := range names {
		live, err := readLive(ctx, r.Live, "enactment", name, &v1.NodeNetworkConfigurationEnactment{})
		if err != nil || live != nil && isAbout(live, node, policy) {
			return live, err
		}
	}
	return nil, nil
}

func isAbout(enactment *v1.NodeNetworkConfigurationEnactment, node, policy string) bool {
	return isOf(enactment, node) && enactment.Policy() == policy
}

package policy

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// gathered is what a decision is made on, and the objects to write.
type gathered struct {
	input      desired.Input
	node       *corev1.Node
	policies   map[string]*v1.NodeNetworkConfigurationPolicy
	enactments map[string]*v1.NodeNetworkConfigurationEnactment
	// enacted are the same by the policy that they are about.
	enacted map[string]*v1.NodeNetworkConfigurationEnactment
	state   *v1.NodeNetworkState
	// local: this is the node's own handler.
	local bool
	// report is the state's current state once it was read.
	report *state.State
	// wait is when time alone may change a rendering; 0 for never.
	wait time.Duration
}

func (r *Reconciler) gather(ctx context.Context, m *memory, name string) (*gathered, error) {
	g := &gathered{
		input:      desired.Input{Node: name, Now: r.Clock.Now()},
		policies:   map[string]*v1.NodeNetworkConfigurationPolicy{},
		enactments: map[string]*v1.NodeNetworkConfigurationEnactment{},
		enacted:    map[string]*v1.NodeNetworkConfigurationEnactment{},
	}
	if err := r.gatherEnactments(ctx, m, g); err != nil {
		return nil, err
	}
	node, err := r.findNode(ctx, g)
	if err != nil {
		return nil, err
	}
	if node == nil {
		r.forget(name)
		return g, nil
	}
	g.node, g.input.NodeUID = node, node.UID
	m.readsReports.Store(true) // One that comes now is not missed.
	if err := r.gatherState(ctx, m, g); err != nil {
		return nil, err
	}
	return g, r.gatherPolicies(ctx, m, g)
}

// findNode returns nil for a node that is really gone: its enactments are what
// the node has committed, so a cache's word is not enough.
func (r *Reconciler) findNode(ctx context.Context, g *gathered) (*corev1.Node, error) {
	node, key := &corev1.Node{}, client.ObjectKey{Name: g.input.Node}
	err := r.Client.Get(ctx, key, node)
	if apierrors.IsNotFound(err) && len(g.input.Enactments) > 0 {
		err = r.Live.Get(ctx, key, node)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return node, err
}

func (r *Reconciler) gatherEnactments(ctx context.Context, m *memory, g *gathered) error {
	var list v1.NodeNetworkConfigurationEnactmentList
	if err := r.Client.List(ctx, &list, r.ofNode(g.input.Node)); err != nil {
		return err
	}
	// Another node's may have this node's label: it says nothing about this one.
	list.Items = slices.DeleteFunc(list.Items, func(e v1.NodeNetworkConfigurationEnactment) bool { return !isOf(&e, g.input.Node) })
	g.input.Enactments = m.overlay(list.Items, g.input.Now)
	for i := range g.input.Enactments {
		enactment := &g.input.Enactments[i]
		g.enactments[enactment.Name], g.enacted[enactment.Policy()] = enactment, enactment
	}
	return nil
}

// isOf tells whether an enactment with the node's label is about the node.
func isOf(enactment *v1.NodeNetworkConfigurationEnactment, node string) bool {
	about := enactment.Node()
	return about == node || about == desired.NodeLabel(node)
}

// gatherState leaves the state nil while the state handler has not made it.
func (r *Reconciler) gatherState(ctx context.Context, m *memory, g *gathered) error {
	var nns v1.NodeNetworkState
	err := r.Client.Get(ctx, client.ObjectKey{Name: g.input.Node}, &nns)
	if apierrors.IsNotFound(err) {
		m.state = nil
		return nil
	}
	if err != nil {
		return err
	}
	g.state = m.newestState(&nns)
	g.input.State = g.state
	if g.local = r.Whole != nil; g.local && g.state.Status.Truncated != nil {
		if whole, known := r.Whole(); known {
			g.input.Whole = &whole
		}
	}
	return nil
}

// again is when to take the next turn.
func (g *gathered) again(after time.Duration) time.Duration {
	if g.wait > 0 && (after == 0 || g.wait < after) {
		after = g.wait
	}
	if !g.local || g.state.Status.Truncated == nil || g.input.Whole != nil || after > 0 && after < wholeRetry {
		return after
	}
	return wholeRetry
}

func (r *Reconciler) gatherPolicies(ctx context.Context, m *memory, g *gathered) error {
	var list v1.NodeNetworkConfigurationPolicyList
	// No turn changes a policy, so none needs a copy.
	if err := r.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	g.input.LastWords = r.gone.without(list.Items)
	uids := map[types.UID]bool{}
	open := false
	for i := range list.Items {
		policy := &list.Items[i]
		selects, err := desired.IsOf(policy, g.node)
		if err != nil {
			// The rollout controller tells it on the policy.
			log.FromContext(ctx).V(1).Info("policy selects no node", "policy", policy.Name, "cause", err.Error())
		}
		if !selects {
			continue
		}
		uids[policy.UID] = true
		g.policies[policy.Name] = policy
		rendered := r.render(ctx, m, g, policy)
		open = open || rendered.Waiting != "" || rendered.ReadsReport() || followsReports(policy) || m.renderings[policy.UID].open
		g.input.Policies = append(g.input.Policies, rendered)
	}
	open = open || slices.ContainsFunc(g.input.Enactments, func(e v1.NodeNetworkConfigurationEnactment) bool { return desired.Awaits(e.Status) })
	m.readsReports.Store(open)
	m.keepRenderings(uids)
	r.shared.only(list.Items)
	return nil
}

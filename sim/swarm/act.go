package swarm

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
)

// kubectl is who people are to the API server.
const kubectl = "kubectl"

// actor carries out what people do, at one instant.
type actor struct {
	ctx     context.Context //nolint:containedctx // The run's own; it never ends.
	cluster *cluster.Cluster
}

// do carries out an action. What it is about may be gone.
func (a actor) do(what Action) error {
	a.cluster.World.Trace(about(what), traceKind(what), what.String())
	err := a.carryOut(what)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("action %s: %w", what, err)
	}
	return nil
}

func about(what Action) string {
	switch what.Verb {
	case Label, Manage, Write, Refresh, Precede:
		return what.Name
	}
	return ""
}

func traceKind(what Action) string {
	if about(what) == "" {
		return "policy"
	}
	return "node"
}

func (a actor) carryOut(what Action) error {
	switch what.Verb {
	case Apply:
		return a.apply(what)
	case Delete:
		return a.client().Delete(a.ctx, &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: what.Name}})
	case Confirm:
		return change(a, what.Name, func(p *v1.NodeNetworkConfigurationPolicy) {
			set(&p.Annotations, v1.ConfirmAnnotation, strconv.FormatInt(p.Generation, 10))
		})
	case Label:
		return change(a, what.Name, func(n *corev1.Node) { set(&n.Labels, what.Key, what.Value) })
	case Manage:
		return change(a, what.Name, func(n *v1.NodeNetworkState) { n.Spec.Managed = &what.Managed })
	case Write:
		return change(a, what.Name, func(n *v1.NodeNetworkState) { n.Spec.DesiredState = v1.NewState(what.State) })
	case Refresh:
		return change(a, what.Name, func(n *v1.NodeNetworkState) { set(&n.Labels, v1.ForceRefreshLabel, what.Value) })
	case Precede:
		return a.precede(what.Name)
	}
	return fmt.Errorf("there is no verb %q", what.Verb)
}

func (a actor) client() client.Client { return a.cluster.API.As(kubectl) }

func (a actor) apply(what Action) error {
	policy := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: what.Name}, Spec: *what.Spec.DeepCopy()}
	err := a.client().Create(a.ctx, policy)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	return change(a, what.Name, func(p *v1.NodeNetworkConfigurationPolicy) { p.Spec = *what.Spec.DeepCopy() })
}

// change reads an object, has it changed and patches it.
func change[T any, P interface {
	*T
	client.Object
}](a actor, name string, alter func(P),
) error {
	before := P(new(T))
	if err := a.client().Get(a.ctx, client.ObjectKey{Name: name}, before); err != nil {
		return err
	}
	after := before.DeepCopyObject().(P)
	alter(after)
	return a.client().Patch(a.ctx, after, client.MergeFrom(before))
}

// set a key, or remove it for an empty value.
func set(to *map[string]string, key, value string) {
	if value == "" {
		delete(*to, key)
		return
	}
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[key] = value
}

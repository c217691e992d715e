package secrets

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Reconciler writes spec.secrets of enactments.
type Reconciler struct {
	client client.Client
	// namespace of the Secrets that policies may name, empty for none.
	namespace string
}

// New returns a reconciler for the Secrets of a namespace; with an empty one it tells
// policies that they may name none.
func New(c client.Client, namespace string) *Reconciler {
	return &Reconciler{client: c, namespace: namespace}
}

// Reconcile hands over what one enactment is to have.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	enactment := &v1.NodeNetworkConfigurationEnactment{}
	if err := r.client.Get(ctx, request.NamespacedName, enactment); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !concerns(enactment) {
		return reconcile.Result{}, nil
	}
	in, err := r.gather(ctx, enactment)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading the Secrets for enactment %s: %w", enactment.Name, err)
	}
	handed, err := hand(in)
	if err != nil {
		// Nobody but the node's handler can mend that, and its next key asks for a turn.
		log.FromContext(ctx).Error(err, "No Secrets are handed over", "enactment", enactment.Name, "node", enactment.Node())
		return reconcile.Result{}, nil
	}
	if slices.Equal(handed, enactment.Spec.Secrets) {
		return reconcile.Result{}, nil
	}
	if err := r.write(ctx, enactment, handed); err != nil {
		return reconcile.Result{}, fmt.Errorf("writing the secrets of enactment %s: %w", enactment.Name, err)
	}
	return reconcile.Result{}, nil
}

// concerns tells whether the node asks for Secrets, or has some.
func concerns(enactment *v1.NodeNetworkConfigurationEnactment) bool {
	return enactment.Status.SecretsKey != "" || len(enactment.Spec.Secrets) > 0
}

func (r *Reconciler) gather(ctx context.Context, enactment *v1.NodeNetworkConfigurationEnactment) (input, error) {
	in := input{key: enactment.Status.SecretsKey, namespace: r.namespace, before: enactment.Spec.Secrets, there: map[string]*corev1.Secret{}}
	if in.key == "" {
		return in, nil
	}
	var err error
	if in.named, err = r.named(ctx, enactment); err != nil || r.namespace == "" {
		return in, err
	}
	for _, one := range in.named {
		if in.there[one.Name] != nil {
			continue
		}
		object := &corev1.Secret{}
		err := r.client.Get(ctx, client.ObjectKey{Namespace: r.namespace, Name: one.Name}, object)
		if client.IgnoreNotFound(err) != nil {
			return in, err
		}
		if err == nil {
			in.there[one.Name] = object
		}
	}
	return in, nil
}

// named are the references of the enactment's policy, where that is for its node: the
// enactment itself is no proof of it, since a handler makes it.
func (r *Reconciler) named(ctx context.Context, enactment *v1.NodeNetworkConfigurationEnactment) ([]state.SecretReference, error) {
	policy, node := &v1.NodeNetworkConfigurationPolicy{}, &corev1.Node{}
	for name, object := range map[string]client.Object{enactment.Policy(): policy, enactment.Node(): node} {
		if err := r.client.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
	}
	isOf := func(o metav1.OwnerReference) bool { return o.UID == policy.UID }
	if !policy.DeletionTimestamp.IsZero() || !slices.ContainsFunc(enactment.OwnerReferences, isOf) {
		return nil, nil
	}
	if selects, err := desired.Selects(policy, node); err != nil || !selects {
		return nil, nil // The rollout controller tells it on the policy.
	}
	wanted, err := state.Parse(policy.Spec.DesiredState.Raw)
	if err != nil {
		return nil, nil // The node says why.
	}
	return wanted.SecretReferences(), nil
}

// write cannot hit an enactment that was deleted and made again since it was read.
func (r *Reconciler) write(ctx context.Context, enactment *v1.NodeNetworkConfigurationEnactment, handed []v1.SealedSecret) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": enactment.UID}, "spec": map[string]any{"secrets": handed},
	})
	if err != nil {
		return err
	}
	target := &v1.NodeNetworkConfigurationEnactment{ObjectMeta: metav1.ObjectMeta{Name: enactment.Name}}
	return client.IgnoreNotFound(r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch)))
}

// SetupWithManager starts the reconciler with the manager, which must not run yet.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.Controller().Complete(mgr, r)
}

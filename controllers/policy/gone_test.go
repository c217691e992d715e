package policy

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// live is an API server that has one policy and one NodeNetworkState.
type live struct {
	policy v1.NodeNetworkConfigurationPolicy
	state  v1.NodeNetworkState
}

func (l live) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	switch o := o.(type) {
	case *v1.NodeNetworkConfigurationPolicy:
		*o = l.policy
	case *v1.NodeNetworkState:
		*o = l.state
	default:
		return fmt.Errorf("reading %T: %w", o, errors.ErrUnsupported)
	}
	return nil
}

func (live) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.ErrUnsupported
}

// A policy has left the node, which the cache shows, and selects it again, which it
// does not show yet.
func TestAnEnactmentWhosePolicyIsBack(t *testing.T) {
	owner := []metav1.OwnerReference{{Kind: "NodeNetworkConfigurationPolicy", Name: "p", UID: "policy"}}
	committed := &v1.CommittedPolicy{Generation: 1, Hash: "h"}
	source := v1.DesiredSource{Source: v1.Source{Policy: "p", Generation: 1, Hash: "h"}}
	for sentence, c := range map[string]struct {
		status v1.NodeNetworkConfigurationEnactmentStatus
		change func(*live)
		gone   bool
	}{
		"goes where the node has given up what it had committed": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			gone:   true,
		},
		"stays where the node has it in its spec": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			change: func(l *live) { l.state.Spec.Sources = []v1.DesiredSource{source} },
		},
		"stays where the spec is newer than the one that was decided on": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed},
			change: func(l *live) { l.state.Generation++ },
		},
		"stays where it tells how often the policy has failed": {
			status: v1.NodeNetworkConfigurationEnactmentStatus{Committed: committed, Retry: &v1.EnactmentRetry{Attempts: 3}},
		},
		"stays where nothing was ever committed": {},
		"goes where it is another policy of the name": {
			change: func(l *live) { l.policy.UID = "another" },
			gone:   true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := live{
				policy: v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "policy", Generation: 3}},
				state:  v1.NodeNetworkState{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "state", Generation: 5}},
			}
			g := &gathered{node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, state: api.state.DeepCopy()}
			if c.change != nil {
				c.change(&api)
			}
			enactment := &v1.NodeNetworkConfigurationEnactment{
				ObjectMeta: metav1.ObjectMeta{Name: "n1.p", Labels: map[string]string{v1.EnactmentPolicyLabel: "p"}, OwnerReferences: owner},
				Status:     c.status,
			}
			got, err := New(Options{Live: api}).gone(t.Context(), g, enactment)
			if err != nil || got != c.gone {
				t.Errorf("gone: %v (%v), want %v", got, err, c.gone)
			}
		})
	}
}

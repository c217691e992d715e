package rollout

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/controllers/rollout/plan"
)

// planeLabels are those of nodes that run the control plane or its etcd: kubeadm's of now
// and of before, and that of Rancher's etcd.
var planeLabels = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master", "node-role.kubernetes.io/etcd"}

func isControlPlane(node client.Object) bool {
	for _, label := range planeLabels {
		if _, is := node.GetLabels()[label]; is {
			return true
		}
	}
	return false
}

// controlPlane is what a plan of the policy has to know of the control plane's nodes. Only
// of these the enactments of other policies are looked at. Where no handler has run for the
// grace none changes anything, whatever the enactments still say.
func (r *Reconciler) controlPlane(ctx context.Context, policy string, nodes []corev1.Node, silent map[string]*plan.Silence) (plan.ControlPlane, error) {
	plane := plan.ControlPlane{Away: map[string]string{}}
	for i := range nodes {
		node := &nodes[i]
		if !isControlPlane(node) {
			continue
		}
		plane.Nodes++
		if !isReady(node) {
			plane.Away[node.Name] = "not Ready"
			continue
		}
		if silence := silent[node.Name]; silence != nil && silence.For >= r.grace {
			continue
		}
		other, err := r.changedBy(ctx, node.Name, policy)
		if err != nil {
			return plane, err
		}
		if other != "" {
			plane.Away[node.Name] = "policy " + other + " changes it"
		}
	}
	return plane, nil
}

// changedBy is a policy, other than this one, that may be changing the node; empty for none.
func (r *Reconciler) changedBy(ctx context.Context, node, policy string) (string, error) {
	enactments := &v1.NodeNetworkConfigurationEnactmentList{}
	if err := r.client.List(ctx, enactments, r.ofNode(node), client.UnsafeDisableDeepCopy); err != nil {
		return "", fmt.Errorf("listing the enactments of node %s: %w", node, err)
	}
	for i := range enactments.Items {
		if e := &enactments.Items[i]; e.Policy() != policy && plan.OfItsNode(e) && plan.MayChangeNode(e) {
			return e.Policy(), nil
		}
	}
	return "", nil
}

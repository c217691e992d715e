package desired

import (
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Selects tells whether the policy selects the node: all labels of
// spec.nodeSelector, the required terms of spec.affinity.nodeAffinity, and,
// only where spec.tolerations has entries, no NoSchedule or NoExecute taint
// that they leave untolerated. Whether the node is Ready plays no part.
//
// An error means that the policy's affinity cannot be read (an unknown
// operator, a malformed label); such a policy selects no node.
func Selects(policy *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) (bool, error) {
	required := nodeaffinity.NewRequiredNodeAffinity(policy.Spec.NodeSelector, policy.Spec.Affinity)
	matches, err := required.Match(node)
	if err != nil {
		return false, fmt.Errorf("spec.affinity.nodeAffinity: %w", err)
	}
	return matches && tolerates(policy.Spec.Tolerations, node.Spec.Taints), nil
}

// IsOf tells whether the policy is the node's: Selects; one that is being deleted is
// nobody's any more.
func IsOf(policy *v1.NodeNetworkConfigurationPolicy, node *corev1.Node) (bool, error) {
	if !policy.DeletionTimestamp.IsZero() {
		return false, nil
	}
	return Selects(policy, node)
}

// tolerates treats an empty list as absent, since a typed client drops it.
func tolerates(tolerations []corev1.Toleration, taints []corev1.Taint) bool {
	if len(tolerations) == 0 {
		return true
	}
	// Comparison operators (Gt, Lt) are read wherever they are written: the
	// CRD's schema accepts them whatever the cluster's feature gates say.
	const comparisonOperators = true
	_, untolerated := corev1helpers.FindMatchingUntoleratedTaint(
		logr.Discard(), taints, tolerations, keepsPodsAway, comparisonOperators)
	return !untolerated
}

func keepsPodsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

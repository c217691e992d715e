package desired

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

func requires(key string, operator corev1.NodeSelectorOperator, values ...string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}},
			}},
		},
	}}
}

func TestSelects(t *testing.T) {
	storage := map[string]string{"role": "storage", "rack": "7"}
	tainted := func(effect corev1.TaintEffect) []corev1.Taint {
		return []corev1.Taint{{Key: "dedicated", Value: "gpu", Effect: effect}}
	}
	tests := map[string]struct {
		spec   v1.NodeNetworkConfigurationPolicySpec
		taints []corev1.Taint
		want   bool
	}{
		"a policy without a selector matches every node": {want: true},
		"a node with all of the selector's labels matches": {
			spec: v1.NodeNetworkConfigurationPolicySpec{NodeSelector: map[string]string{"role": "storage", "rack": "7"}}, want: true,
		},
		"a node that lacks one of the labels does not match": {
			spec: v1.NodeNetworkConfigurationPolicySpec{NodeSelector: map[string]string{"role": "storage", "zone": "a"}},
		},
		"a required affinity term that holds matches": {
			spec: v1.NodeNetworkConfigurationPolicySpec{Affinity: requires("rack", corev1.NodeSelectorOpGt, "6")}, want: true,
		},
		"a required affinity term that does not hold does not match": {
			spec: v1.NodeNetworkConfigurationPolicySpec{Affinity: requires("rack", corev1.NodeSelectorOpNotIn, "7")},
		},
		"selector and affinity must both hold": {
			spec: v1.NodeNetworkConfigurationPolicySpec{
				NodeSelector: map[string]string{"role": "compute"}, Affinity: requires("rack", corev1.NodeSelectorOpExists),
			},
		},
		"taints do not matter while there are no tolerations": {taints: tainted(corev1.TaintEffectNoExecute), want: true},
		"with tolerations, a taint that none of them tolerates keeps the node out": {
			spec:   v1.NodeNetworkConfigurationPolicySpec{Tolerations: []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}}},
			taints: tainted(corev1.TaintEffectNoSchedule),
		},
		"with tolerations, a tolerated taint does not matter": {
			spec:   v1.NodeNetworkConfigurationPolicySpec{Tolerations: []corev1.Toleration{{Key: "dedicated", Value: "gpu"}}},
			taints: tainted(corev1.TaintEffectNoSchedule), want: true,
		},
		"with tolerations, a taint that only discourages does not matter": {
			spec:   v1.NodeNetworkConfigurationPolicySpec{Tolerations: []corev1.Toleration{{Key: "other", Operator: corev1.TolerationOpExists}}},
			taints: tainted(corev1.TaintEffectPreferNoSchedule), want: true,
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", Labels: storage}, Spec: corev1.NodeSpec{Taints: test.taints}}
			got, err := Selects(&v1.NodeNetworkConfigurationPolicy{Spec: test.spec}, node)
			if err != nil || got != test.want {
				t.Errorf("Selects = %v, %v; want %v", got, err, test.want)
			}
		})
	}
}

func TestAnUnreadableAffinitySelectsNothingAndSaysWhere(t *testing.T) {
	policy := &v1.NodeNetworkConfigurationPolicy{
		Spec: v1.NodeNetworkConfigurationPolicySpec{Affinity: requires("rack", "Near", "7")},
	}
	got, err := Selects(policy, &corev1.Node{})
	if got || err == nil || !strings.Contains(err.Error(), "spec.affinity.nodeAffinity") {
		t.Errorf("Selects = %v, %v; want false and an error that names the field", got, err)
	}
}

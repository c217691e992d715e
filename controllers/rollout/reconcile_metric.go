package rollout

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// PolicyStatus is the metric kubernetes_nmstate_policies_status: how many
// policies have each condition True. It is counted from the cache whenever it
// is asked for, so it needs no upkeep.
type PolicyStatus struct {
	list    func(*v1.NodeNetworkConfigurationPolicyList) error
	elected <-chan struct{}
	desc    *prometheus.Desc
}

// NewPolicyStatus returns the metric. Until elected is closed it is silent, so
// that replicas do not count the same policies twice. The context bounds the
// reads for as long as the process runs.
func NewPolicyStatus(ctx context.Context, reader client.Reader, elected <-chan struct{}) *PolicyStatus {
	return &PolicyStatus{
		list: func(policies *v1.NodeNetworkConfigurationPolicyList) error {
			return reader.List(ctx, policies, client.UnsafeDisableDeepCopy)
		},
		elected: elected,
		desc: prometheus.NewDesc("kubernetes_nmstate_policies_status",
			"Number of policies by the condition that is True.", []string{"status"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (p *PolicyStatus) Describe(descriptions chan<- *prometheus.Desc) { descriptions <- p.desc }

// Collect implements prometheus.Collector.
func (p *PolicyStatus) Collect(metrics chan<- prometheus.Metric) {
	select {
	case <-p.elected:
	default:
		return
	}
	policies := &v1.NodeNetworkConfigurationPolicyList{}
	if err := p.list(policies); err != nil {
		metrics <- prometheus.NewInvalidMetric(p.desc, fmt.Errorf("listing the policies: %w", err))
		return
	}
	for _, conditionType := range []v1.ConditionType{
		v1.PolicyDegraded, v1.PolicyAvailable, v1.PolicyProgressing, v1.PolicyIgnored,
	} {
		count := 0
		for i := range policies.Items {
			condition := find(policies.Items[i].Status.Conditions, conditionType)
			if condition != nil && condition.Status == metav1.ConditionTrue {
				count++
			}
		}
		metrics <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(count), string(conditionType))
	}
}

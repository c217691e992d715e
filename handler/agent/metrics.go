package agent

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// metrics are what the agent counts; nil counts nothing.
type metrics struct {
	drift       *prometheus.GaugeVec
	corrections *prometheus.CounterVec
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	if registerer == nil {
		return nil, nil
	}
	m := &metrics{
		drift: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_nmstate_drift_leaves", Help: "Number of settings that are not what the node was brought to.",
		}, []string{"node"}),
		corrections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_nmstate_drift_corrections_total", Help: "Corrections of drift by how they ended.",
		}, []string{"node", "result"}),
	}
	for _, one := range []prometheus.Collector{m.drift, m.corrections} {
		if err := registerer.Register(one); err != nil {
			return nil, fmt.Errorf("registering the state handler's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) leaves(node string, count int) {
	if m != nil {
		m.drift.WithLabelValues(node).Set(float64(count))
	}
}

func (m *metrics) corrected(node string, result v1.TransactionResult) {
	if m != nil {
		m.corrections.WithLabelValues(node, string(result)).Inc()
	}
}

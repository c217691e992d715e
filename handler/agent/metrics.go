package agent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// metrics are what the agent counts; nil counts nothing. Only a turn touches
// the times.
type metrics struct {
	drift        *prometheus.GaugeVec
	stale        *prometheus.GaugeVec
	interfaces   *prometheus.GaugeVec
	routes       *prometheus.GaugeVec
	corrections  *prometheus.CounterVec
	transactions *prometheus.CounterVec
	retries      *prometheus.CounterVec
	whole        *prometheus.HistogramVec
	apply        *prometheus.HistogramVec
	probe        *prometheus.HistogramVec
	rollback     *prometheus.HistogramVec

	// begun is when a transaction did, applying when its apply, undoing when
	// its way back; zero where none has.
	begun, applying, undoing time.Time
}

func gaugeOf(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "kubernetes_nmstate_" + name, Help: help}, labels)
}

func counterOf(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "kubernetes_nmstate_" + name, Help: help}, labels)
}

// durationOf is for what takes from a few milliseconds to some minutes.
func durationOf(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kubernetes_nmstate_" + name + "_seconds", Help: help,
		Buckets: []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300},
	}, labels)
}

// newMetrics registers what a node's agent counts. Counters begin at 0 for every way to
// end, so that the first of its kind is an increase.
func newMetrics(registerer prometheus.Registerer, node string) (*metrics, error) {
	if registerer == nil {
		return nil, nil
	}
	m := &metrics{
		drift:        gaugeOf("drift_leaves", "Number of settings that are not what the node was brought to.", "node"),
		stale:        gaugeOf("state_stale", "1 while the NodeNetworkState does not tell how the node's network is: it cannot be read, or not be reported.", "node"),
		interfaces:   gaugeOf("network_interfaces", "Number of network interfaces that the node reports, by type.", "type", "node"),
		routes:       gaugeOf("routes", "Number of routes that the node reports, by family; static are those that a configuration names.", "node", "ip_stack", "type"),
		corrections:  counterOf("drift_corrections_total", "Corrections of drift by how they ended.", "node", "result"),
		transactions: counterOf("transactions_total", "Changes of the node's network by how they ended.", "node", "result"),
		retries:      counterOf("retries_total", "Changes that were tried again after a failure.", "node"),
		whole:        durationOf("transaction_duration", "Time of a change, from its baseline to its end.", "node", "result"),
		apply:        durationOf("apply_duration", "Time that nmstate takes to apply a change.", "node"),
		probe:        durationOf("probe_duration", "Time from a change being in place to a probe having passed or being lost.", "node", "probe", "result"),
		rollback:     durationOf("rollback_duration", "Time that the way back takes, until the node is as before.", "node"),
	}
	var refused []error
	for _, one := range []prometheus.Collector{
		m.drift, m.stale, m.interfaces, m.routes, m.corrections, m.transactions, m.retries, m.whole, m.apply, m.probe, m.rollback,
	} {
		refused = append(refused, registerer.Register(one))
	}
	if err := errors.Join(refused...); err != nil {
		return nil, fmt.Errorf("registering the state handler's metrics: %w", err)
	}
	for _, result := range []v1.TransactionResult{
		v1.TransactionCommitted, v1.TransactionRolledBack, v1.TransactionRefused, v1.TransactionSuperseded, v1.TransactionRollbackIncomplete,
	} {
		m.transactions.WithLabelValues(node, string(result))
		m.corrections.WithLabelValues(node, string(result))
	}
	return m, nil
}

// told says whether what the NodeNetworkState tells is as the node's network is. Of a node
// that nobody manages nothing is told, and nothing is old.
func (m *metrics) told(node string, status v1.NodeNetworkStateStatus, err error) {
	if m == nil {
		return
	}
	available := v1.FindCondition(status.Conditions, v1.StateAvailable)
	if err != nil || available != nil && slices.Contains(old, available.Reason) {
		m.stale.WithLabelValues(node).Set(1)
		return
	}
	m.stale.WithLabelValues(node).Set(0)
}

// old are the reasons for which what is told is not how the network is.
var old = []v1.ConditionReason{v1.ReasonReportFailed, v1.ReasonNetworkManagerUnavailable, v1.ReasonReportRefused}

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

// retried counts an attempt after one that failed.
func (m *metrics) retried(node string) {
	if m != nil {
		m.retries.WithLabelValues(node).Inc()
	}
}

// stepped measures what a step of the machine began or ended.
func (m *metrics) stepped(node string, before, next txn.State, e txn.Event, now time.Time) {
	if m == nil {
		return
	}
	switch e := e.(type) {
	case txn.ProbePassed:
		m.probed(node, before, e.Name, "passed", e.At)
	case txn.ProbeLost:
		m.probed(node, before, e.Name, "lost", e.At)
	}
	if before.Phase == next.Phase {
		return
	}
	if !before.Running() {
		m.begun, m.undoing = now, time.Time{}
	}
	switch {
	case next.Phase == txn.Applying:
		m.applying = now
	case before.Phase == txn.Applying:
		m.apply.WithLabelValues(node).Observe(now.Sub(m.applying).Seconds())
	}
	if next.Phase == txn.RollingBack && m.undoing.IsZero() {
		m.undoing = now
	}
	if !next.Running() && !m.undoing.IsZero() {
		m.rollback.WithLabelValues(node).Observe(now.Sub(m.undoing).Seconds())
	}
}

// probed leaves out late answers. Of a probe with a target the type is told, so
// that the number of series has an end.
func (m *metrics) probed(node string, trial txn.State, name, result string, at time.Time) {
	if trial.Phase != txn.Probing {
		return
	}
	kind, _, _ := strings.Cut(name, " ")
	m.probe.WithLabelValues(node, kind, result).Observe(at.Sub(trial.Began).Seconds())
}

// ended counts a transaction. One that was refused before its baseline took no
// time.
func (m *metrics) ended(node string, result v1.TransactionResult, now time.Time) {
	if m == nil {
		return
	}
	m.transactions.WithLabelValues(node, string(result)).Inc()
	if !m.begun.IsZero() {
		m.whole.WithLabelValues(node, string(result)).Observe(now.Sub(m.begun).Seconds())
	}
	m.begun = time.Time{}
}

// inventory counts what the node reports.
func (m *metrics) inventory(node string, reported state.State) {
	if m == nil {
		return
	}
	m.interfaces.Reset()
	for _, one := range reported.Interfaces() {
		m.interfaces.WithLabelValues(one.Type, node).Inc()
	}
	static := map[string]bool{}
	for _, route := range reported.Routes() {
		static[route.String()] = true
	}
	m.routes.Reset()
	for _, route := range reported.RunningRoutes() {
		family, kind := "ipv4", "dynamic"
		if route.IsIPv6() {
			family = "ipv6"
		}
		if static[route.String()] {
			kind = "static"
		}
		m.routes.WithLabelValues(node, family, kind).Inc()
	}
}

package agent

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// observations is how many times a histogram was given a time.
func observations(t *testing.T, registry *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]uint64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if histogram := metric.GetHistogram(); histogram != nil {
				found[family.GetName()] += histogram.GetSampleCount()
			}
		}
	}
	return found
}

func TestTransactionsAreCountedAndTimed(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	registry := prometheus.NewRegistry()
	n.handler(func(o *Options) { o.Metrics = registry })
	n.want(2, "p", "br0")
	n.outcome(2)
	n.want(3, "p", "br0", "cut") // The API server's probe does not pass with it.
	n.outcome(3)
	want := map[string]uint64{
		"kubernetes_nmstate_transaction_duration_seconds": 2,
		"kubernetes_nmstate_apply_duration_seconds":       2,
		"kubernetes_nmstate_rollback_duration_seconds":    1,
		// Two probes and two comparisons of what is there, twice.
		"kubernetes_nmstate_probe_duration_seconds": 8,
	}
	if difference := cmp.Diff(want, observations(t, registry)); difference != "" {
		t.Errorf("times (-want +got):\n%s", difference)
	}
	if got := counter(t, registry, "kubernetes_nmstate_transactions_total"); got != 2 {
		t.Errorf("%v transactions counted", got)
	}
	if got := counter(t, registry, "kubernetes_nmstate_network_interfaces"); got != 2 {
		t.Errorf("%v interfaces counted, want eth0 and br0", got)
	}
}

func TestAHandWrittenStateThatIsTriedAgainIsARetry(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	registry := prometheus.NewRegistry()
	n.handler(quick, func(o *Options) { o.Metrics = registry })
	n.host.mu.Lock()
	n.host.refuse = fmt.Errorf("no")
	n.host.mu.Unlock()
	n.want(2, "", "br0")
	n.until("it is tried again", func() bool { return counter(t, registry, "kubernetes_nmstate_retries_total") > 0 })
}

func TestWhatTheNodeReportsIsCountedByKind(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry, "n")
	if err != nil {
		t.Fatal(err)
	}
	reported, err := state.Parse([]byte(`{
		"interfaces": [{"name":"a","type":"ethernet"},{"name":"b","type":"ethernet"},{"name":"c","type":"vlan"}],
		"routes": {
			"config": [{"destination":"192.0.2.0/24","next-hop-interface":"a","next-hop-address":"10.0.0.1","table-id":254}],
			"running": [
				{"destination":"192.0.2.0/24","next-hop-interface":"a","next-hop-address":"10.0.0.1","table-id":254},
				{"destination":"10.0.0.0/8","next-hop-interface":"a","table-id":254},
				{"destination":"2001:db8::/64","next-hop-interface":"b","table-id":254}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // Anew each time, and not on top.
		m.inventory("n", reported)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			key := family.GetName()
			if metric.GetGauge() == nil {
				continue
			}
			for _, label := range metric.GetLabel() {
				key += " " + label.GetValue()
			}
			got[key] = metric.GetGauge().GetValue()
		}
	}
	want := map[string]float64{
		"kubernetes_nmstate_network_interfaces n ethernet": 2, "kubernetes_nmstate_network_interfaces n vlan": 1,
		"kubernetes_nmstate_routes ipv4 n static": 1, "kubernetes_nmstate_routes ipv4 n dynamic": 1, "kubernetes_nmstate_routes ipv6 n dynamic": 1,
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("(-want +got):\n%s", difference)
	}
}

func TestAReportThatIsNotHowTheNetworkIsIsStale(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry, "n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		sentence string
		reason   v1.ConditionReason
		err      error
		want     float64
	}{
		{"reported", v1.ReasonReported, nil, 0},
		{"not read", v1.ReasonReportFailed, nil, 1},
		{"without NetworkManager", v1.ReasonNetworkManagerUnavailable, nil, 1},
		{"with one that is too old to be changed, and is reported", v1.ReasonNetworkManagerTooOld, nil, 0},
		{"refused by the API server", v1.ReasonReportRefused, nil, 1},
		{"not managed", v1.ReasonNotManaged, nil, 0},
		{"not written", v1.ReasonReported, fmt.Errorf("no answer"), 1},
	} {
		m.told("n", v1.NodeNetworkStateStatus{Conditions: []v1.Condition{{Type: v1.StateAvailable, Reason: c.reason}}}, c.err)
		if got := counter(t, registry, "kubernetes_nmstate_state_stale"); got != c.want {
			t.Errorf("%s: stale %v, want %v", c.sentence, got, c.want)
		}
	}
	// Where Prometheus sees a counter for the first time at 1, it sees no increase.
	if series, err := registry.Gather(); err != nil || !slices.ContainsFunc(series, func(f *dto.MetricFamily) bool {
		return f.GetName() == "kubernetes_nmstate_transactions_total" && len(f.GetMetric()) == 5
	}) {
		t.Errorf("the ways in which transactions end do not begin at 0: %v, %v", series, err)
	}
}

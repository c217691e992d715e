package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// quick is a Damping for tests.
func quick(o *Options) {
	o.Damping = idle.Damping{Quiet: 30 * time.Millisecond, Calm: time.Millisecond, First: time.Hour, Most: time.Hour, Forget: time.Hour}
}

// wantMTU commits one interface per policy with an MTU.
func (n *node) wantMTU(generation int64, policies map[string]string) {
	n.t.Helper()
	var list []any
	var sources []v1.DesiredSource
	for _, name := range []string{"a", "b"} {
		drift, there := policies[name]
		if !there {
			continue
		}
		list = append(list, map[string]any{"name": name, "type": "dummy", "state": "up", "mtu": json.Number("1400")})
		sources = append(sources, v1.DesiredSource{
			Source: v1.Source{Policy: name, Generation: 1, Hash: "h"}, Drift: drift, Paths: []string{"interfaces[" + name + "]"},
		})
	}
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = generation
		nns.Spec.DesiredState, nns.Spec.Sources = v1.NewState(state.FromTree(map[string]any{"interfaces": list}).JSON()), sources
	})
	n.outcome(generation)
	n.until("it is said that nothing drifted", func() bool { return n.drifted() == metav1.ConditionFalse })
}

func (n *node) drifted() metav1.ConditionStatus {
	for _, c := range n.get().Status.Conditions {
		if c.Type == v1.StateDrifted {
			return c.Status
		}
	}
	return ""
}

// setMTU is somebody's hand.
func (n *node) setMTU(a *Agent, name, mtu string) {
	n.host.mu.Lock()
	tree := map[string]any{}
	maps.Copy(tree, n.host.interfaces[name])
	tree["mtu"] = json.Number(mtu)
	n.host.interfaces[name] = tree
	n.host.mu.Unlock()
	a.NetworkChanged()
}

// awaitTurn waits for the end of the turn that is under way, if there is one: every
// later turn begins by reading what was written before.
func awaitTurn(a *Agent) {
	a.turn.Lock()
	defer a.turn.Unlock()
}

func (n *node) mtu(name string) int64 {
	n.t.Helper()
	shown, err := n.host.Show(n.t.Context())
	if err != nil {
		n.t.Fatal(err)
	}
	one, _ := shown.Interface(name)
	mtu, _ := one.MTU()
	return mtu
}

func TestWhatSomebodyElseChangesIsPutRightAndTheTransactionOfThePoliciesIsNotOverwritten(t *testing.T) {
	t.Parallel()
	n, registry := newNode(t), prometheus.NewRegistry()
	a, _ := n.handler(quick, func(o *Options) { o.Metrics = registry })
	n.wantMTU(2, map[string]string{"a": "", "b": ""})
	before := n.get().Status.Transaction
	n.setMTU(a, "a", "1300")
	var told []v1.Drift
	n.until("the drift is told", func() bool { told = n.get().Status.Drift; return len(told) > 0 || n.mtu("a") == 1400 })
	if len(told) != 1 || told[0].Path != "interfaces[a].mtu" || told[0].Expected != "1400" || told[0].Found != "1300" || told[0].Policy != "a" || told[0].Action != "Correcting" {
		t.Fatalf("drift = %+v", told)
	}
	n.until("it is right again, and said so", func() bool {
		return n.mtu("a") == 1400 && n.drifted() == metav1.ConditionFalse && len(n.get().Status.Drift) == 0
	})
	if diff := cmp.Diff(before, n.get().Status.Transaction); diff != "" {
		t.Fatalf("the transaction is another one:\n%s", diff)
	}
	if got := counter(t, registry, "kubernetes_nmstate_drift_corrections_total"); got != 1 {
		t.Errorf("%v corrections counted", got)
	}
	if got := counter(t, registry, "kubernetes_nmstate_drift_leaves"); got != 0 {
		t.Errorf("%v leaves drift", got)
	}
	n.quiet()
}

func counter(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name {
				sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func TestDriftThatIsOnlyReportedIsLeftAloneAlsoWhenOtherDriftIsCorrected(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick)
	n.wantMTU(2, map[string]string{"a": "Report", "b": "Correct"})
	n.setMTU(a, "a", "1300")
	n.until("the drift is told", func() bool { return len(n.get().Status.Drift) == 1 })
	if got := n.get().Status.Drift[0]; got.Policy != "a" || got.Action != "Reported" {
		t.Fatalf("drift = %+v", got)
	}
	n.quiet()
	n.setMTU(a, "b", "1200")
	n.until("the other drift is corrected", func() bool { return n.mtu("b") == 1400 && len(n.get().Status.Drift) == 1 })
	if n.mtu("a") != 1300 || n.host.count() != 2 {
		t.Fatalf("a has MTU %d, %d applies", n.mtu("a"), n.host.count())
	}
	n.setMTU(a, "a", "1400")
	n.until("it is right again by somebody's hand", func() bool { return n.drifted() == metav1.ConditionFalse })
	n.quiet()
}

func TestDriftThatWasOnlyReportedIsCorrectedAsSoonAsItsPolicySaysSo(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick)
	n.wantMTU(2, map[string]string{"a": "Report"})
	n.setMTU(a, "a", "1300")
	n.until("the drift is told", func() bool { return len(n.get().Status.Drift) == 1 })
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Sources[0].Drift = 3, "Correct" })
	n.until("it is right again", func() bool { return n.mtu("a") == 1400 && n.drifted() == metav1.ConditionFalse })
	n.setMTU(a, "a", "1300")
	n.until("the next one waits, since it drifts again", func() bool { d := n.get().Status.Drift; return len(d) == 1 && d[0].Action == "Damped" })
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Sources[0].Drift = 4, "Report" })
	n.until("it is told what is done about it", func() bool { d := n.get().Status.Drift; return len(d) == 1 && d[0].Action == "Reported" })
	n.quiet()
}

func TestWhatDriftsWhileTheNodeIsToBeSomethingElseIsFoundOnceItGoesBack(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick)
	n.wantMTU(2, map[string]string{"a": ""})
	committed := n.get().Spec
	n.edit(func(nns *v1.NodeNetworkState) {
		nns.Generation = 3
		nns.Spec.DesiredState = v1.NewState([]byte(`{"interfaces":[{"nam":"a"}]}`))
	})
	if got := n.outcome(3); got.Result != v1.TransactionRefused {
		t.Fatalf("outcome = %+v", got)
	}
	n.setMTU(a, "a", "1300")
	n.until("the report has it", func() bool { return strings.Contains(string(n.get().Status.CurrentState.Raw), "1300") })
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec = 4, committed })
	n.until("it is right again", func() bool { return n.mtu("a") == 1400 })
}

func TestWhatDiffersForAMomentIsNoDrift(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(a *Agent){
		"while NetworkManager changes something":    func(a *Agent) { a.NetworkChanged() },
		"while NetworkManager brings profiles back": func(a *Agent) { a.NetworkManagerRestarted() },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			a, _ := n.handler(func(o *Options) { o.Damping = idle.Damping{Quiet: time.Minute, Calm: time.Minute} })
			n.outcomeOf(2, "a")
			disturb(a)
			n.setMTU(a, "a", "1300")
			n.until("the report has it", func() bool { return strings.Contains(string(n.get().Status.CurrentState.Raw), "1300") })
			n.quiet()
			if len(n.get().Status.Drift) > 0 || n.drifted() == metav1.ConditionTrue || n.host.count() != 1 {
				t.Fatalf("drift = %+v, %d applies", n.get().Status.Drift, n.host.count())
			}
			n.setMTU(a, "a", "1400")
			n.until("it is said that nothing drifted", func() bool { return n.drifted() == metav1.ConditionFalse })
		})
	}
}

func (n *node) outcomeOf(generation int64, policy string) {
	n.t.Helper()
	n.wantMTU(generation, map[string]string{policy: ""})
}

func TestWhoKeepsChangingItBackIsMetMoreAndMoreRarely(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, kill := n.handler(quick)
	n.outcomeOf(2, "a")
	n.setMTU(a, "a", "1300")
	n.until("it is put right at once", func() bool { return n.mtu("a") == 1400 && n.drifted() == metav1.ConditionFalse })
	n.setMTU(a, "a", "1300")
	damped := func() bool { return len(n.get().Status.Drift) == 1 && n.get().Status.Drift[0].Action == "Damped" }
	n.until("the next one waits", damped)
	n.quiet()
	kill()
	n.handler(quick)
	n.quiet()
	if n.host.count() != 2 || !damped() {
		t.Fatalf("%d applies, drift %+v", n.host.count(), n.get().Status.Drift)
	}
	if record := n.record(); record.Corrections["interfaces[a]"].Times != 1 {
		t.Fatalf("corrections = %+v", record.Corrections)
	}
}

func TestACorrectionThatCutsTheNodeOffIsTakenBackAndNotTriedAgainSoon(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick, func(o *Options) { o.Damping.First = time.Millisecond })
	n.outcomeOf(2, "a")
	n.host.mu.Lock()
	n.host.interfaces["eth0"] = map[string]any{"name": "eth0", "type": "ethernet", "state": "up", "mtu": json.Number("9000")}
	delete(n.host.interfaces, "a")
	n.host.forbids = "a"
	n.host.mu.Unlock()
	a.NetworkChanged()
	n.until("the failure is told", func() bool {
		for _, c := range n.get().Status.Conditions {
			if c.Type == v1.StateDrifted && strings.Contains(c.Message, "correcting it failed: ") && strings.Contains(c.Message, "api-server: no answer") {
				return true
			}
		}
		return false
	})
	n.quiet()
	if n.host.count() != 2 || n.host.has("a") || n.get().Status.Drift[0].Action != "Damped" || n.get().Status.Transaction.Result != v1.TransactionCommitted {
		t.Fatalf("%d applies, a there: %v, %+v", n.host.count(), n.host.has("a"), n.get().Status)
	}
}

func TestAHandlerThatIsKilledInMidCorrectionIsFollowedByOneThatTakesItBackAndWaits(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, kill := n.handler(quick)
	n.outcomeOf(2, "a")
	n.host.mu.Lock()
	n.host.hold = make(chan struct{})
	n.host.mu.Unlock()
	before := n.get().Status.Transaction
	n.setMTU(a, "a", "1300")
	n.until("the correction is in place", func() bool { return n.mtu("a") == 1400 })
	kill()
	n.handler(quick)
	n.until("it is taken back", func() bool { return n.mtu("a") == 1300 })
	n.until("it is told", func() bool { return len(n.get().Status.Drift) == 1 && n.get().Status.Drift[0].Action == "Damped" })
	if diff := cmp.Diff(before, n.get().Status.Transaction); diff != "" {
		t.Fatalf("the transaction is another one:\n%s", diff)
	}
}

func TestANodeThatIsNotManagedIsNotCorrected(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	a, _ := n.handler(quick)
	n.outcomeOf(2, "a")
	no := false
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Managed = 3, &no })
	awaitTurn(a) // One that began before would still report what follows.
	n.until("it is told once", func() bool {
		return slices.ContainsFunc(n.get().Status.Conditions, func(c v1.Condition) bool {
			return c.Type == v1.StateAvailable && c.Reason == v1.ReasonNotManaged
		})
	})
	n.setMTU(a, "a", "1300")
	n.quiet()
	if n.host.count() != 1 || n.drifted() != metav1.ConditionFalse {
		t.Fatalf("%d applies, drifted %s", n.host.count(), n.drifted())
	}
	yes := true
	n.edit(func(nns *v1.NodeNetworkState) { nns.Generation, nns.Spec.Managed = 4, &yes })
	n.until("it is put right when it is managed again", func() bool { return n.mtu("a") == 1400 && len(n.record().Corrections) == 1 })
}

func TestACorrectionThatAClockAheadHasEndedIsTakenForOneOfNow(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	desired := state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "a", "type": "dummy", "state": "up", "mtu": json.Number("1400")}}})
	nns := &v1.NodeNetworkState{Spec: v1.NodeNetworkStateSpec{DesiredState: v1.NewState(desired.JSON())}}
	clock := clocktesting.NewFakeClock(now)
	a := &Agent{Options: Options{Clock: deadline.On(clock)}}
	a.record.Committed = &journal.Committed{Desired: desired.JSON(), Hash: a.hashOf(nns.Spec.DesiredState)}
	a.record.Corrections = idle.Corrections{"interfaces[a]": {Times: 1, Ended: now.Add(2 * time.Hour)}}
	for range 2 { // It stays what it was taken for.
		a.judge(nns, &v1.NodeNetworkStateStatus{}, reading{})
		if ended := a.record.Corrections["interfaces[a]"].Ended; !ended.Equal(now) {
			t.Errorf("it ended at %s, and then it was %s", ended, now)
		}
		clock.Step(time.Minute)
	}
}

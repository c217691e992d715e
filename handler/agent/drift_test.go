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
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// quick is a Damping for tests.
func quick(o *Options) {
	o.Damping = Damping{Quiet: 30 * time.Millisecond, Calm: time.Millisecond, First: time.Hour, Most: time.Hour, Forget: time.Hour}
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
	for name, disturb := range map[string]func(a *Agent){
		"while NetworkManager changes something":    func(a *Agent) { a.NetworkChanged() },
		"while NetworkManager brings profiles back": func(a *Agent) { a.NetworkManagerRestarted() },
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			a, _ := n.handler(func(o *Options) { o.Damping = Damping{Quiet: time.Minute, Calm: time.Minute} })
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

func TestWhatAClockAheadHasWrittenAboutDriftIsTakenForNow(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	desired := state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "a", "type": "dummy", "state": "up", "mtu": json.Number("1400")}}})
	current := state.FromTree(map[string]any{"interfaces": []any{map[string]any{"name": "a", "type": "dummy", "state": "up", "mtu": json.Number("1300")}}})
	nns := &v1.NodeNetworkState{Spec: v1.NodeNetworkStateSpec{DesiredState: v1.NewState(desired.JSON())}}
	for name, c := range map[string]struct {
		since, ended time.Duration // From now.
		past         journal.Correction
		due          time.Duration
	}{
		"it was found by a clock ahead":                       {since: 2 * time.Hour},
		"it was corrected by a clock ahead":                   {since: -time.Second, ended: 2 * time.Hour, past: journal.Correction{Times: 1}, due: 10 * time.Second},
		"it was corrected lately":                             {since: -time.Second, ended: -4 * time.Second, past: journal.Correction{Times: 1}, due: 6 * time.Second},
		"it was found and corrected, both by a clock ahead":   {since: 3 * time.Hour, ended: 2 * time.Hour, past: journal.Correction{Times: 1}, due: 10 * time.Second},
		"it was found a day ago, and its correction is to be": {since: -24 * time.Hour, due: -24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Agent{Options: Options{Clock: deadline.On(clocktesting.NewFakeClock(now))}}
			a.record.Committed = &journal.Committed{Desired: desired.JSON(), Hash: a.hashOf(nns.Spec.DesiredState)}
			if c.past.Times > 0 {
				c.past.Ended = now.Add(c.ended)
				a.record.Corrections = map[string]journal.Correction{"interfaces[a]": c.past}
			}
			status := &v1.NodeNetworkStateStatus{Drift: []v1.Drift{{Path: "interfaces[a].mtu", Expected: "1400", Found: "1300", Since: metav1.NewTime(now.Add(c.since))}}}
			a.judge(nns, status, reading{state: current})
			if len(a.drift.found) != 1 {
				t.Fatalf("found %+v", a.drift.found)
			}
			if due := a.drift.found[0].due.Sub(now); due != c.due {
				t.Errorf("it is put right in %s, want %s", due, c.due)
			}
			if told := status.Drift[0].Since.Time; told.After(now) {
				t.Errorf("it is told since %s, and now is %s", told, now)
			}
		})
	}
}

func TestWhatGoesWithoutTheDefaultProbesIsPutRightByItself(t *testing.T) {
	now := time.Unix(1000, 0)
	leaf := func(path string, unguarded bool, due time.Duration) drifted {
		return drifted{Difference: state.Difference{Path: state.ParsePath(path)}, correct: true, unguarded: unguarded, due: now.Add(due)}
	}
	for sentence, c := range map[string]struct {
		found     []drifted
		subjects  []string
		unguarded bool
	}{
		"what is guarded is put right guarded": {[]drifted{leaf("interfaces[a].mtu", false, 0)}, []string{"interfaces[a]"}, false},
		"a policy's that dropped them without": {[]drifted{leaf("interfaces[a].mtu", true, 0)}, []string{"interfaces[a]"}, true},
		"of both the guarded comes first": {
			[]drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[b].mtu", false, 0)}, []string{"interfaces[b]"}, false,
		},
		"what is not due yet does not count": {
			[]drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[b].mtu", false, time.Second)}, []string{"interfaces[a]"}, true,
		},
		"an interface of both is guarded": {
			[]drifted{leaf("interfaces[a].mtu", true, 0), leaf("interfaces[a].ipv4.dhcp", false, 0)}, []string{"interfaces[a]"}, false,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			due, unguarded := (&drift{found: c.found}).dueAt(now)
			if diff := cmp.Diff(c.subjects, slices.Sorted(maps.Keys(due))); diff != "" || unguarded != c.unguarded {
				t.Errorf("unguarded: %t (-want +got):\n%s", unguarded, diff)
			}
		})
	}
}

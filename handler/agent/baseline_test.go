package agent

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// lossy is a network that loses the first packets of some probes.
type lossy struct {
	probe.NoTargets
	lost  map[string]int
	asked map[string]int
}

func (lossy) Names() []string { return nil }

func (l lossy) Probe(_ context.Context, name string) error {
	l.asked[name]++
	if l.asked[name] <= l.lost[name] {
		return errors.New(name + ": no answer")
	}
	return nil
}

func TestOneLostPacketTakesNoGuardAwayFromAChange(t *testing.T) {
	t.Parallel()
	network := lossy{lost: map[string]int{"dns": 1, "gateway": 2, "never-answered": 1}, asked: map[string]int{}}
	a := &Agent{}
	a.Prober, a.Clock, a.Spawn = network, deadline.On(clock.RealClock{}), func(task func()) { task() }

	var got map[string]bool
	names, lately := []string{"api", "dns", "gateway", "never-answered"}, map[string]bool{"api": true, "dns": true, "gateway": true}
	a.measure(t.Context(), names, lately, time.Second, nil, func(found answers) { got = found.passed })

	want := map[string]bool{"api": true, "dns": true, "gateway": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what passed differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"api": 1, "dns": 2, "gateway": 2, "never-answered": 1}, network.asked); diff != "" {
		t.Errorf("how often each was asked differs (-want +got):\n%s", diff)
	}
}

func TestWhatGuardedALostChangeGuardsItsNextAttempt(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	n.handler(func(o *Options) { o.Backoff = idle.Backoff{FirstLost: 3 * time.Second, MostLost: 3 * time.Second} })
	n.want(2, "", "cut")
	if got := n.outcome(2); got.Result != v1.TransactionRolledBack {
		t.Fatalf("outcome = %+v", got)
	}
	n.host.need("an answer from the API server") // It gives none, for a moment.
	n.until("it is tried again", func() bool {
		last := n.get().Status.Transaction
		return last.Attempts > 1 || last.Result == v1.TransactionCommitted
	})
	got := n.get().Status.Transaction
	if got.Result != v1.TransactionRolledBack || !slices.Contains(got.GuardedBy, probe.APIServer) {
		t.Errorf("outcome = %+v", got)
	}
}

func TestAChangeThatComesInANewerGenerationKeepsItsGuards(t *testing.T) {
	t.Parallel()
	of := func(policy string, generation int64, hash string) v1.DesiredSource {
		return v1.DesiredSource{Source: v1.Source{Policy: policy, Generation: generation, Hash: hash}}
	}
	lost := v1.Transaction{
		Generation: 2, Result: v1.TransactionRolledBack, GuardedBy: []string{"api-server", "ping 192.0.2.1"},
		Sources: []v1.Source{{Policy: "p", Generation: 1, Hash: "h"}},
	}
	committed := lost
	committed.Result = v1.TransactionCommitted
	byHand := lost
	byHand.Sources = nil
	for name, c := range map[string]struct {
		last       *v1.Transaction
		generation int64
		sources    []v1.DesiredSource
		guarded    bool
	}{
		"nothing was tried":                         {generation: 4, sources: []v1.DesiredSource{of("p", 1, "h")}},
		"the same generation":                       {last: &lost, generation: 2, guarded: true},
		"the same policies in a newer generation":   {last: &lost, generation: 4, sources: []v1.DesiredSource{of("p", 1, "h")}, guarded: true},
		"a policy that was edited":                  {last: &lost, generation: 4, sources: []v1.DesiredSource{of("p", 2, "h")}},
		"a policy with another state for the node":  {last: &lost, generation: 4, sources: []v1.DesiredSource{of("p", 1, "i")}},
		"one policy more":                           {last: &lost, generation: 4, sources: []v1.DesiredSource{of("p", 1, "h"), of("q", 1, "h")}},
		"it was committed: the node is another one": {last: &committed, generation: 4, sources: []v1.DesiredSource{of("p", 1, "h")}},
		"written by hand, and by hand once more":    {last: &byHand, generation: 4},
	} {
		t.Run(name, func(t *testing.T) {
			a := &Agent{record: ledger{Record: journal.Record{Last: c.last}}, txn: transaction{entry: journal.Entry{Sources: c.sources}}}
			a.txn.Change.Generation = c.generation
			var want []string
			if c.guarded {
				want = []string{"api-server"}
			}
			if got, _ := a.guardedBefore([]string{"api-server", "dns"}); !slices.Equal(got, want) {
				t.Errorf("guarded by %v, want %v", got, want)
			}
		})
	}
}

func TestWhatGuardsAChangeAndWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	names := []string{"dns", "api-server"}
	for sentence, c := range map[string]struct {
		passed     map[string]bool
		guarded    []string
		correction []string
		want       txn.BaselineMeasured
	}{
		"what passes guards it":                              {passed: map[string]bool{"dns": true}, want: txn.BaselineMeasured{Passed: []string{"dns"}}},
		"where nothing passes, all are waited for":           {want: txn.BaselineMeasured{Silent: names}},
		"what guarded its last attempt is not waited for":    {guarded: []string{"dns"}, want: txn.BaselineMeasured{Passed: []string{"dns"}}},
		"a correction does not wait: drift may be the cause": {correction: []string{"interfaces[eth0]"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			entry := journal.Entry{Correction: c.correction}
			got := guardWith(&entry, names, c.guarded, nil, answers{passed: c.passed})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

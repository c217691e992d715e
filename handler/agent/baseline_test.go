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
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// lossy is a network that loses the first packets of some probes.
type lossy struct {
	probe.Prober
	lost  map[string]int
	asked map[string]int
}

func (l lossy) Probe(_ context.Context, name string) error {
	l.asked[name]++
	if l.asked[name] <= l.lost[name] {
		return errors.New(name + ": no answer")
	}
	return nil
}

func TestOneLostPacketTakesNoGuardAwayFromAChange(t *testing.T) {
	network := lossy{lost: map[string]int{"dns": 1, "gateway": 2, "never-answered": 1}, asked: map[string]int{}}
	a := &Agent{}
	a.Prober, a.Clock, a.Spawn = network, deadline.On(clock.RealClock{}), func(task func()) { task() }

	var got map[string]bool
	names, lately := []string{"api", "dns", "gateway", "never-answered"}, map[string]bool{"api": true, "dns": true, "gateway": true}
	a.measure(t.Context(), names, lately, time.Second, nil, func(passed map[string]bool) { got = passed })

	want := map[string]bool{"api": true, "dns": true, "gateway": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what passed differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"api": 1, "dns": 2, "gateway": 2, "never-answered": 1}, network.asked); diff != "" {
		t.Errorf("how often each was asked differs (-want +got):\n%s", diff)
	}
}

func TestWhatGuardedALostChangeGuardsItsNextAttempt(t *testing.T) {
	n := newNode(t)
	n.handler(func(o *Options) { o.Backoff = Backoff{FirstLost: 3 * time.Second, MostLost: 3 * time.Second} })
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

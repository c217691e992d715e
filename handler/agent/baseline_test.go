package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"

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

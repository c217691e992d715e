package agent

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// slow is a host that takes its time to be read, by the clock of the test.
type slow struct {
	*host
	clock *clocktesting.FakeClock
	takes time.Duration
	reads int
}

func (s *slow) Show(ctx context.Context) (state.State, error) {
	s.reads++
	s.clock.Step(s.takes)
	return s.host.Show(ctx)
}

// busy is a node on which somebody else changes things, and its handler's turns.
type busy struct {
	*node
	agent *Agent
	host  *slow
	clock *clocktesting.FakeClock
}

func newBusy(t *testing.T) *busy {
	n := newNode(t)
	files, err := journal.NewFiles(n.dir)
	if err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakeClock(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	b := &busy{node: n, host: &slow{host: n.host, clock: clock}, clock: clock}
	b.agent, err = New(Options{
		Node: "node1", Client: n.api, Live: n.api, Backend: b.host, Prober: probes{host: n.host}, Journal: files,
		Boot: n.boot, Clock: deadline.On(clock), Spawn: func(func()) {}, Window: fakeWindow,
	})
	if err != nil {
		t.Fatal(err)
	}
	b.turn() // It makes the NodeNetworkState.
	b.turn() // It tells the network for the first time.
	return b
}

// turn takes one, and returns when the next one is due by itself.
func (b *busy) turn() time.Duration {
	b.t.Helper()
	result, err := b.agent.Reconcile(b.t.Context(), reconcile.Request{})
	if err != nil {
		b.t.Fatal(err)
	}
	return result.RequeueAfter
}

// comes and goes change the network beside us.
func (b *busy) comes(name string) time.Duration {
	b.host.interfaces[name] = map[string]any{"name": name, "type": "dummy", "state": "up"}
	b.agent.NetworkChanged()
	return b.turn()
}

func (b *busy) goes(name string) time.Duration {
	delete(b.host.interfaces, name)
	b.agent.NetworkChanged()
	return b.turn()
}

// after a time a turn is taken.
func (b *busy) after(d time.Duration) time.Duration {
	b.clock.Step(d)
	return b.turn()
}

func (b *busy) tells(names ...string) {
	b.t.Helper()
	reported, err := state.Parse(b.get().Status.CurrentState.Raw)
	if err != nil {
		b.t.Fatal(err)
	}
	told := map[string]bool{}
	for _, one := range reported.Interfaces() {
		told[one.Name] = true
	}
	if got := slices.Sorted(maps.Keys(told)); !slices.Equal(got, names) {
		b.t.Errorf("it tells %v, want %v", got, names)
	}
}

func TestWhatSomebodyElseChangesIsToldASecondLater(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	if wait := b.comes("cni0"); wait != time.Second {
		t.Errorf("the next turn is after %s, want 1s", wait)
	}
	b.tells("eth0")
	b.after(time.Second)
	b.tells("cni0", "eth0")
}

func TestWhatPassesIsNotTold(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	writes := b.writes
	b.comes("veth1")
	b.clock.Step(900 * time.Millisecond)
	if wait := b.goes("veth1"); wait != 0 {
		t.Errorf("the next turn is after %s, and nothing is to be told", wait)
	}
	b.after(time.Hour)
	if b.writes != writes {
		t.Errorf("%d writes for what had passed", b.writes-writes)
	}
}

func TestWhatIsPutOffGoesWithAnOutcome(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	b.comes("cni0")
	b.agent.reported.atOnce = true // A change has ended.
	b.comes("cni1")
	b.tells("cni0", "cni1", "eth0")
}

func TestWhoAsksForAReportIsToldAtOnce(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	b.comes("cni0")
	b.edit(func(nns *v1.NodeNetworkState) { nns.Labels = map[string]string{v1.ForceRefreshLabel: "now"} })
	b.turn()
	b.tells("cni0", "eth0")
}

func TestANodeThatTakesLongToReadIsReadATenthOfTheTime(t *testing.T) {
	t.Parallel()
	b := newBusy(t)
	b.host.takes = 2 * time.Second
	b.comes("cni0")
	reads := b.host.reads
	if wait := b.comes("cni1"); wait != 18*time.Second || b.host.reads != reads {
		t.Errorf("read %d times more, and the next turn is after %s, want 18s", b.host.reads-reads, wait)
	}
	b.after(18 * time.Second)
	if b.host.reads != reads+1 {
		t.Errorf("read %d times more, want once", b.host.reads-reads)
	}
	b.tells("cni0", "cni1", "eth0")
	b.host.takes = time.Minute
	b.clock.Step(time.Hour)
	b.comes("cni2")
	if wait := b.comes("cni3"); wait != readPause {
		t.Errorf("the next turn is after %s, want %s", wait, readPause)
	}
}

package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

type bench struct {
	*cluster.Cluster

	t     *testing.T
	lines []string
}

func newBench(t *testing.T, seed uint64, nodes int, mode cluster.Mode) *bench {
	t.Helper()
	w := world.New(seed)
	b := &bench{t: t}
	w.Sink = func(l world.Line) { b.lines = append(b.lines, l.String()) }
	latency := w.Rand("latency")
	w.Interpose = func(world.Call) world.Verdict {
		return world.Verdict{Before: time.Duration(latency.IntN(5000)) * time.Microsecond, After: time.Duration(latency.IntN(5000)) * time.Microsecond}
	}
	b.Cluster = cluster.New(t.Context(), w, cluster.Options{Topology: network.Nodes(nodes, 2), Mode: mode, Window: 20 * time.Second})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + strings.Join(b.lines[max(0, len(b.lines)-400):], "\n"))
		}
	})
	return b
}

func (b *bench) policy(name, state string) {
	b.t.Helper()
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.DesiredState = v1.NewState([]byte(state))
	if err := b.API.As("kubectl").Create(b.t.Context(), p); err != nil {
		b.t.Fatal(err)
	}
}

// await runs until the policy's condition is True.
func (b *bench) await(name string, kind v1.ConditionType) *v1.NodeNetworkConfigurationPolicy {
	b.t.Helper()
	var found *v1.NodeNetworkConfigurationPolicy
	err := b.World.RunUntil(b.World.Elapsed()+10*time.Minute, func() bool {
		found, _ = b.API.Look(&v1.NodeNetworkConfigurationPolicy{}, name).(*v1.NodeNetworkConfigurationPolicy)
		if found == nil || found.Status.ObservedGeneration != found.Generation {
			return false
		}
		for _, c := range found.Status.Conditions {
			if c.Type == kind && c.Status == metav1.ConditionTrue {
				return true
			}
		}
		return false
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if b.World.Elapsed() >= 10*time.Minute {
		b.t.Fatalf("policy %s is not %s: %+v", name, kind, found.Status)
	}
	return found
}

const (
	bridge = `{"interfaces": [{"name": "br1", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth1", "vlan": {}}]}}]}`
	cut    = `{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.7", "prefix-length": 24}]}}]}`
)

func TestAPolicyIsAppliedOnEveryNode(t *testing.T) {
	for _, mode := range []cluster.Mode{cluster.Distributed, cluster.Centralized} {
		t.Run(string(mode), func(t *testing.T) {
			b := newBench(t, 1, 3, mode)
			b.policy("br1", bridge)
			b.await("br1", v1.PolicyAvailable)
			for _, n := range b.Nodes() {
				if l := n.Host.Link("br1"); l == nil {
					t.Errorf("%s has no br1:\n%s", n.Name, n.Host.Kernel())
				}
			}
		})
	}
}

func TestAPolicyThatCutsANodeOffIsTakenBack(t *testing.T) {
	b := newBench(t, 1, 3, cluster.Distributed)
	before := map[string]string{}
	if err := b.World.RunFor(time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, n := range b.Nodes() {
		before[n.Name] = n.Host.Kernel()
	}
	b.policy("cut", cut)
	b.await("cut", v1.PolicyDegraded)
	if err := b.World.RunFor(2 * time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, n := range b.Nodes() {
		if now := n.Host.Kernel(); now != before[n.Name] {
			t.Errorf("%s was\n%s\nand is\n%s", n.Name, before[n.Name], now)
		}
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	run := func(seed uint64) string {
		b := newBench(t, seed, 3, cluster.Distributed)
		b.policy("br1", bridge)
		b.policy("cut", cut)
		if err := b.World.RunFor(10 * time.Minute); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x after %d steps", b.World.Hash(), b.World.Steps())
	}
	first, again := run(1), run(1)
	if first != again {
		t.Errorf("%s, then %s", first, again)
	}
	if other := run(2); other == first {
		t.Error("another seed, the same run")
	}
	t.Log(first)
}

func BenchmarkQuietHour(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		w := world.New(1)
		c := cluster.New(b.Context(), w, cluster.Options{Topology: network.Nodes(5, 2)})
		p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: "br1"}}
		p.Spec.DesiredState = v1.NewState([]byte(bridge))
		if err := c.API.As("kubectl").Create(b.Context(), p); err != nil {
			b.Fatal(err)
		}
		if err := w.RunFor(time.Hour); err != nil {
			b.Fatal(err)
		}
		found := &v1.NodeNetworkConfigurationPolicy{}
		if err := c.API.As("kubectl").Get(b.Context(), client.ObjectKey{Name: "br1"}, found); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(w.Steps()), "steps/op")
		b.ReportMetric(float64(w.Calls()), "calls/op")
	}
}

// As in the field: after a boot a kubelet knows no pod but static ones until it
// has reached the API server; a container that ends it restarts by itself.
func TestAHandlerRunsAfterABootOnlyOnceItsNodeHasReachedTheAPIServer(t *testing.T) {
	b := newBench(t, 1, 1, cluster.Distributed)
	n := b.Nodes()[0]
	run := func(d time.Duration) {
		t.Helper()
		if err := b.World.RunFor(d); err != nil {
			t.Fatal(err)
		}
	}
	cut := func(away bool) { network.Effects{Cluster: b.Network}.Partition(n.Name, away, away) }
	run(time.Minute)
	cut(true)
	n.KillHandler()
	run(time.Minute)
	if !n.HandlerRuns() {
		t.Error("nobody restarts the container")
	}
	n.Reboot(30 * time.Second)
	run(10 * time.Minute)
	if n.HandlerRuns() {
		t.Error("a handler runs that nobody has asked for")
	}
	cut(false)
	run(time.Minute)
	if !n.HandlerRuns() {
		t.Error("the handler does not run, although the API server is reached")
	}
}

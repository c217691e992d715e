package oracle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

const (
	bridge  = `{"interfaces": [{"name": "br1", "type": "linux-bridge", "state": "up", "bridge": {"port": [{"name": "eth1", "vlan": {}}]}}]}`
	mtu     = `{"interfaces": [{"name": "eth1", "type": "ethernet", "state": "up", "mtu": 1400}]}`
	cut     = `{"interfaces": [{"name": "eth0", "type": "ethernet", "state": "up", "ipv4": {"enabled": true, "dhcp": false, "address": [{"ip": "198.51.100.7", "prefix-length": 24}]}}]}`
	nowhere = `{"interfaces": [{"name": "bond0", "type": "bond", "state": "up", "link-aggregation": {"mode": "active-backup", "port": ["eth9"]}}]}`
)

// judged is a cluster with all rules at work.
type judged struct {
	*cluster.Cluster
	*oracle.Set

	t     *testing.T
	lines []string
}

func judge(t *testing.T, seed uint64, nodes int, mode cluster.Mode) *judged {
	t.Helper()
	w := world.New(seed)
	b := &judged{t: t}
	w.Sink = func(l world.Line) { b.lines = append(b.lines, l.String()) }
	latency := w.Rand("latency")
	w.Interpose = func(world.Call) world.Verdict {
		return world.Verdict{Before: time.Duration(latency.IntN(5000)) * time.Microsecond, After: time.Duration(latency.IntN(5000)) * time.Microsecond}
	}
	watch := oracle.NewWatch()
	b.Cluster = cluster.New(t.Context(), w, cluster.Options{Topology: network.Nodes(nodes, 2), Mode: mode, Window: 20 * time.Second, Watch: watch})
	b.Set = watch.Begin(b.Cluster, w.Fail, oracle.All()...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("\n" + strings.Join(b.lines[max(0, len(b.lines)-120):], "\n"))
		}
	})
	return b
}

func (b *judged) run(d time.Duration) {
	b.t.Helper()
	if err := b.World.RunFor(d); err != nil {
		b.t.Fatal(err)
	}
}

func (b *judged) policy(name, state string) {
	b.t.Helper()
	p := &v1.NodeNetworkConfigurationPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.DesiredState = v1.NewState([]byte(state))
	if err := b.API.As("kubectl").Create(b.t.Context(), p); err != nil {
		b.t.Fatal(err)
	}
}

func TestProductionKeepsAllRulesWhereNothingGoesWrong(t *testing.T) {
	for _, mode := range []cluster.Mode{cluster.Distributed, cluster.Centralized} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s, seed %d", mode, seed), func(t *testing.T) {
				b := judge(t, seed, 3, mode)
				b.policy("bridge", bridge)
				b.run(30 * time.Second)
				b.policy("cut", cut)
				b.run(10 * time.Second)
				b.policy("conflicting", strings.Replace(mtu, "1400", "1300", 1))
				b.policy("mtu", mtu)
				b.run(10 * time.Minute)
				if pending := b.Pending(); len(pending) > 0 {
					t.Errorf("pending: %q", pending)
				}
				if err := b.AtRest(); err != nil {
					t.Error(err)
				}
				b.Tell(oracle.Event{What: oracle.Quiet{}})
				b.run(10 * time.Minute)
				b.Tell(oracle.Event{What: oracle.Quiet{Over: true}})
				if err := b.World.Failure(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

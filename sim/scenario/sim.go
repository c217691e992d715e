package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/sim/apiserver"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

const (
	// simPatience is how long something is waited for: beyond the slowest retry
	// (5 minutes) and an expired Lease.
	simPatience = 15 * time.Minute
	// tick is how often what depends on the time alone is looked at.
	tick = 250 * time.Millisecond
	// rebootTakes and nmRestartTakes are about what the lab's nodes take.
	rebootTakes    = 3 * time.Second
	nmRestartTakes = 200 * time.Millisecond
	onceTimeout    = 90 * time.Second
)

// Sim is a simulated cluster as a Backend. Its world's Interpose and its hooks
// belong to the caller.
type Sim struct {
	*cluster.Cluster

	// Rules of the design, at work on every step; what breaks one fails the world.
	Rules *oracle.Set

	began   time.Duration
	applies map[string]int
	// phases that each node has entered since Watch.
	phases map[string][]string
	writes int
	last   []string
	// heals end the cuts at work, and say so to the rules.
	heals []func()
}

// Simulate makes the cluster of a scenario and waits until every node has
// reported. ctx is the root of all contexts of the run.
func Simulate(ctx context.Context, s *Scenario, w *world.World) (*Sim, error) {
	b, err := Build(ctx, s, w)
	if err != nil {
		return nil, err
	}
	return b, b.Begin(ctx)
}

// Build makes the cluster of a scenario, before the first instant of its run.
func Build(ctx context.Context, s *Scenario, w *world.World) (*Sim, error) {
	topology, err := networkOf(s.Topology.Grown())
	if err != nil {
		return nil, err
	}
	b := &Sim{applies: map[string]int{}, phases: map[string][]string{}}
	if others := w.Sink; others != nil {
		w.Sink = trace.Tee(others, b.hear)
	} else {
		w.Sink = b.hear
	}
	mode := cluster.Distributed
	if s.Centralized {
		mode = cluster.Centralized
	}
	watch := oracle.NewWatch()
	watch.Checkpoint = b.checkpoint
	b.Cluster = cluster.New(ctx, w, cluster.Options{Topology: topology, Mode: mode, Spare: len(s.Topology.Later), Watch: watch})
	b.Rules = watch.Begin(b.Cluster, w.Fail, oracle.All()...)
	b.API.Written(b.wrote)
	return b, nil
}

// Begin waits until every node has reported, which is the beginning.
func (b *Sim) Begin(ctx context.Context) error {
	reported, err := b.Until(ctx, simPatience, func() (bool, error) {
		all := true
		for _, n := range b.Nodes() {
			state, _ := b.API.Look(&v1.NodeNetworkState{}, n.Name).(*v1.NodeNetworkState)
			all = all && state != nil && hasCondition(state.Status.Conditions, true, Args{"CONDITION": string(v1.StateAvailable)})
		}
		return all, nil
	})
	if err == nil && !reported {
		err = fmt.Errorf("not every node reports within %s", simPatience)
	}
	b.began = b.World.Elapsed()
	return err
}

// Playing is how a scenario is played in the simulator.
type Playing struct {
	Seed uint64
	// Sink gets the trace, and Said the transcript; nil for nobody.
	Sink func(world.Line)
	Said func(line string)
	// Ways: who reaches what is in the trace.
	Ways bool
}

// Played is how it went.
type Played struct {
	// Picture of the end.
	Picture string
	// Hash of the trace, and how long it took by the virtual clock.
	Hash uint64
	Took time.Duration
}

// Play runs a scenario on a simulated cluster of its own, with the latencies of
// a quiet cluster and the rules at work. The transcript is in the trace, too.
func Play(ctx context.Context, s *Scenario, how Playing) (Played, error) {
	w := world.New(how.Seed)
	defer w.Close()
	w.Sink = how.Sink
	w.Interpose = Latency(w)
	b, err := Simulate(ctx, s, w)
	if err != nil {
		return Played{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	if how.Ways {
		b.ShowWays()
	}
	picture, err := Run(ctx, s, b, func(line string) {
		w.Trace("", "step", strings.TrimSpace(line))
		if how.Said != nil {
			how.Said(line)
		}
	})
	if err == nil {
		err = b.Rules.AtRest()
	}
	return Played{picture, w.Hash(), w.Elapsed()}, err
}

// Latency is that of a quiet cluster, for a world's Interpose.
func Latency(w *world.World) func(world.Call) world.Verdict {
	chance := w.Rand("latency")
	draw := func() time.Duration { return time.Duration(chance.IntN(5000)) * time.Microsecond }
	return func(world.Call) world.Verdict { return world.Verdict{Before: draw(), After: draw()} }
}

// checkpoint counts applies, of which each begins with one.
func (b *Sim) checkpoint(e host.CheckpointEvent) {
	if e.Kind == host.CheckpointMade && e.Owner != "" {
		b.applies[e.Host.Name]++
	}
}

// fault tells the rules what the scenario does, by the names of sim/fault: for
// a moment, or until it is told to end.
func (b *Sim) fault(kind, target string, on, end bool) {
	b.Rules.Tell(oracle.Event{Node: target, What: oracle.Fault{Kind: kind, On: on, End: end}})
}

// hear reads the phases from production's log, where one is told once it is
// journaled and before anything is done about it.
func (b *Sim) hear(l world.Line) {
	if l.What != trace.Log {
		return
	}
	words, values := trace.Fields(l.Text)
	_, node, _ := strings.Cut(l.Who, "/")
	if words == "transaction" && values["phase"] != "" {
		b.phases[node] = append(b.phases[node], values["phase"])
	}
}

// wrote counts what processes write, people and kubelets apart.
func (b *Sim) wrote(w apiserver.Write) {
	if w.Process == person || w.Process == "kubelet" || w.Process == "kubectl" {
		return
	}
	b.note(fmt.Sprintf("%s %s %s %s %s", w.Process, w.Verb, w.Kind, w.Name, w.Subresource))
}

func (b *Sim) note(said string) {
	b.writes++
	b.last = append(b.last, said)
	b.last = b.last[max(0, len(b.last)-5):]
}

// person is whose client a scenario uses.
const person = "person"

// Client writes and reads at once.
func (b *Sim) Client() client.Client { return b.API.As(person) }

// Elapsed is virtual.
func (b *Sim) Elapsed() time.Duration { return b.World.Elapsed() - b.began }

// Patience is virtual, too.
func (b *Sim) Patience() time.Duration { return simPatience }

// Until looks after each event that changed something, and every tick.
func (b *Sim) Until(_ context.Context, d time.Duration, done func() (bool, error)) (bool, error) {
	end := b.World.Elapsed() + d
	is, failed := done()
	for !is && failed == nil && b.World.Elapsed() < end {
		seen := b.stamp()
		err := b.World.RunUntil(min(end, b.World.Elapsed()+tick), func() bool {
			now := b.stamp()
			if now == seen {
				return false
			}
			seen = now
			is, failed = done()
			return is || failed != nil
		})
		if err != nil {
			return false, err
		}
		if !is && failed == nil {
			is, failed = done()
		}
	}
	return is, failed
}

// stamp changes when there may be something new to see.
func (b *Sim) stamp() uint64 {
	sum := b.API.Revision() + uint64(len(b.Events.All())) //nolint:gosec // It is a count.
	for _, n := range b.Nodes() {
		sum += n.Host.Revision() + uint64(len(b.phases[n.Name])) //nolint:gosec // It is a count.
		if n.Host.JournalOpen() {
			sum += 1 << 40
		}
	}
	return sum
}

func (b *Sim) host(node string) (*host.Host, error) {
	n, err := b.node(node)
	if err != nil {
		return nil, err
	}
	return n.Host, nil
}

func (b *Sim) node(name string) (*cluster.Node, error) {
	if n := b.Node(name); n != nil {
		return n, nil
	}
	return nil, fmt.Errorf("%s is not in the cluster", name)
}

// Kernel is the host's.
func (b *Sim) Kernel(_ context.Context, node string) ([]string, error) {
	n := b.Node(node)
	if n == nil {
		return nil, nil // It has left.
	}
	return n.Host.Picture(), nil
}

// Snapshot is the kernel, what NetworkManager would do with it, and which profiles there are.
func (b *Sim) Snapshot(_ context.Context, node string) (string, error) {
	h, err := b.host(node)
	if err != nil {
		return "", err
	}
	lines := append([]string{h.Kernel() + strings.Join(append(h.NameServers(), h.SearchDomains()...), " ")}, h.ProfileNames()...)
	return strings.Join(lines, "\n"), nil
}

// Phase of the journal.
func (b *Sim) Phase(_ context.Context, node string) (string, error) {
	h, err := b.host(node)
	if err != nil {
		return "", err
	}
	entry := h.Entry()
	if entry == nil {
		return "Idle", nil
	}
	return string(entry.Transaction.Phase), nil
}

// Watch forgets the phases so far.
func (b *Sim) Watch(context.Context) error {
	clear(b.phases)
	return nil
}

// Enter stops at the event in which the phase was entered.
func (b *Sim) Enter(ctx context.Context, node, phase string) error {
	entered, err := b.Until(ctx, simPatience, func() (bool, error) { return slices.Contains(b.phases[node], phase), nil })
	if err == nil && !entered {
		err = fmt.Errorf("phase %s was not entered within %s; entered: %v", phase, simPatience, b.phases[node])
	}
	return err
}

// Applies counts checkpoints.
func (b *Sim) Applies(_ context.Context, node string) (int, error) { return b.applies[node], nil }

// Writes counts objects and events.
func (b *Sim) Writes(context.Context) (int, string, error) {
	return b.writes + len(b.Cluster.Events.All()), strings.Join(b.last, "; "), nil
}

// Told are the events about an object.
func (b *Sim) Told(_ context.Context, kind, name string) ([]Told, error) {
	var found []Told
	for _, e := range b.Cluster.Events.About(kind, name) {
		found = append(found, Told{e.Reason, e.Note})
	}
	return found, nil
}

// Ready is the kubelet's word.
func (b *Sim) Ready(_ context.Context, node string, ready bool) error {
	n, err := b.node(node)
	if err == nil {
		b.fault("node-not-ready", node, !ready, ready)
		n.SetReady(ready)
	}
	return err
}

// networkOf is the topology as the network knows it.
func networkOf(t Topology) (network.Topology, error) {
	var out network.Topology
	for _, n := range t.Nodes {
		spec := network.NodeSpec{Name: n.Name}
		for _, nic := range n.NICs {
			spec.NICs = append(spec.NICs, network.NICSpec(nic))
		}
		out.Nodes = append(out.Nodes, spec)
	}
	for _, s := range t.Switches {
		spec := network.SwitchSpec{Name: s.Name, Gateway: s.Gateway, Gateway6: s.Gateway6, DNS: s.DNS, RA: s.RA}
		if s.DHCPFrom != "" {
			spec.DHCP = &network.DHCPSpec{From: s.DHCPFrom, To: s.DHCPTo}
		}
		if s.ChassisID != "" {
			spec.LLDP = &network.LLDP{ChassisID: s.ChassisID, SystemName: s.SystemName}
			for _, word := range s.VLANs {
				var id int64
				if _, err := fmt.Sscanf(word, "%d", &id); err != nil {
					return out, fmt.Errorf("VLAN %q: %w", word, err)
				}
				spec.LLDP.VLANs = append(spec.LLDP.VLANs, id)
			}
		}
		out.Switches = append(out.Switches, spec)
	}
	out.Services = []network.ServiceSpec{{Name: "web", Switch: lan, Type: "http", Port: 80}, {Name: "echo", Switch: lan, Type: "echo", Port: 7}}
	return out, nil
}

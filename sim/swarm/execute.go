package swarm

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nmstate/kubernetes-nmstate/handler/txn"
	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Options of Execute; the zero value is fine.
type Options struct {
	// Sink gets the trace.
	Sink func(world.Line)
	// Rule is the only one that is to be looked at; empty for all.
	Rule string
}

// execution is a run under way.
type execution struct {
	ctx      context.Context //nolint:containedctx // The run's own.
	run      *Run
	world    *world.World
	cluster  *cluster.Cluster
	effects  *effects
	injector *fault.Injector
	rules    *oracle.Set
	residue  *residue
	figures  Figures
}

// Execute runs a run. When ctx ends it stops at the next step; the result is
// void then.
func Execute(ctx context.Context, run Run, options Options) Result {
	w := world.New(run.Seed)
	defer w.Close()
	w.Sink = options.Sink
	x := &execution{ctx: ctx, run: &run, world: w}
	violation := x.carryOut(options.Rule)
	if ctx.Err() != nil {
		violation = nil
	}
	x.figures.count(x)
	result := Result{Seed: run.Seed, Violation: violation, Figures: x.figures, Hash: w.Hash()}
	if x.injector != nil {
		result.Reached, result.Met = x.injector.Reached(), x.injector.Met()
	}
	if violation != nil {
		result.Figures.Broken = 1
	}
	return result
}

// broken is a violation, by a rule of this package's own where it is no oracle's.
func (x *execution) broken(rule string, err error) *oracle.Violation {
	return oracle.Broken(rule, err, x.world.Elapsed())
}

// carryOut goes through the phases.
func (x *execution) carryOut(rule string) *oracle.Violation {
	if err := x.prepare(rule); err != nil {
		return x.broken("run", err)
	}
	x.world.Trace("", "phase", "safety")
	if v := x.until(x.run.Safety); v != nil {
		return v
	}
	x.injector.Heal()
	x.world.Trace("", "phase", "liveness")
	if v := x.settle(); v != nil {
		return v
	}
	x.world.Trace("", "phase", "quiet")
	if err := x.rules.Still(x.run.Quiet, x.pass); err != nil {
		return x.broken("panic", err)
	}
	return x.compare(rule)
}

// settle lets everything come to an end, and looks at what must hold then.
func (x *execution) settle() *oracle.Violation {
	if err := x.rules.Settle(x.run.Safety+x.run.Liveness, x.pass); err != nil {
		return x.broken("panic", err)
	}
	return nil
}

// until lets the run go on until a time.
func (x *execution) until(end time.Duration) *oracle.Violation {
	if err := x.pass(end); err != nil {
		return x.broken("panic", err)
	}
	return nil
}

// pass lets the run go on until a time; the error is the world's, or that nobody
// waits any more.
func (x *execution) pass(end time.Duration) error {
	if err := x.world.RunUntil(end, func() bool { return x.ctx.Err() != nil }); err != nil {
		return err
	}
	return x.ctx.Err()
}

func (x *execution) prepare(rule string) error { return x.prepareWith(x.run.options(), rule) }

func (x *execution) prepareWith(options cluster.Options, rule string) error {
	w := x.world
	// Before the cluster's first calls.
	w.Interpose = func(call world.Call) world.Verdict {
		if x.injector == nil {
			return world.Verdict{}
		}
		verdict := x.injector.Interpose(call)
		if verdict.CrashBefore || verdict.CrashAfter {
			x.figures.Crashes++
		}
		return verdict
	}
	watch := oracle.NewWatch()
	watch.Checkpoint = x.checkpoint
	options.Watch = watch
	x.cluster = cluster.New(x.ctx, w, options)
	rules := oracle.Named(rule)
	if x.run.isUndone() {
		x.residue = newResidue(x.cluster.Nodes())
		rules = append(rules, x.residue)
	}
	x.rules = watch.Begin(x.cluster, w.Fail, rules...)
	if w.Sink != nil {
		x.cluster.ShowWays()
	}
	x.effects = newEffects(x.ctx, x.cluster, x.run)
	if x.run.Cluster.Others {
		x.addOthers()
	}
	x.plugLater()
	injector, err := fault.New(fault.Options{
		World: w, Plan: x.run.Faults, Effects: x.effects,
		Target: func(p *world.Process) string { return oracle.TargetOf(p.Name) },
		Phase:  x.phase,
		Heard:  x.heard,
		Asked:  x.asked,
	})
	if err != nil {
		return err
	}
	x.injector = injector
	for _, n := range x.run.Cluster.Nodes {
		if n.Tainted {
			_ = change(x.effects.actor, n.Name, taint)
		}
	}
	for _, a := range x.run.Actions {
		w.After(a.At, func() {
			if err := x.effects.do(a); err != nil {
				w.Fail(err)
			}
		})
	}
	return nil
}

func taint(n *corev1.Node) {
	n.Spec.Taints = []corev1.Taint{{Key: taintKey, Effect: corev1.TaintEffectNoSchedule}}
}

func (x *execution) phase(node string) string {
	if n := x.cluster.Node(node); n != nil {
		return string(n.Host.Phase())
	}
	return "Gone"
}

// asked tells whether a node's change waits for a person's word.
func (x *execution) asked(node string) bool {
	n := x.cluster.Node(node)
	return n != nil && n.Host.Phase() == txn.Probing && n.Host.Entry() != nil && n.Host.Entry().Transaction.Change.Confirm > 0
}

// options of the cluster: everything on one switch.
func (r *Run) options() cluster.Options {
	o := cluster.Options{
		Mode: cluster.Distributed, Replicas: r.Cluster.Controllers, Spare: len(r.Cluster.Spare),
		Labels: map[string]map[string]string{}, Topology: network.Nodes(1, 0),
	}
	if r.Cluster.Centralized {
		o.Mode = cluster.Centralized
	}
	o.Topology.Nodes = nil
	for _, n := range append(append([]Node(nil), r.Cluster.Nodes...), r.Cluster.Spare...) {
		spec := network.NodeSpec{Name: n.Name, NICs: []network.NICSpec{{Name: "eth0", Switch: network.LAN, Address: n.Address + "/24"}}}
		for i := 1; i < n.NICs; i++ {
			spec.NICs = append(spec.NICs, network.NICSpec{Name: fmt.Sprint("eth", i), Switch: network.LAN})
		}
		o.Topology.Nodes = append(o.Topology.Nodes, spec)
		o.Labels[n.Name] = n.Labels
		if n.Bare {
			o.Bare = append(o.Bare, n.Name)
		}
	}
	return o
}

// plugLater leaves NICs out until their time.
func (x *execution) plugLater() {
	const nic = "eth2"
	for _, n := range x.run.Cluster.Nodes {
		node := x.cluster.Node(n.Name)
		if n.Late == 0 {
			continue
		}
		node.Host.Unplug(nic)
		var plug func()
		plug = func() {
			if !node.Host.On() {
				x.world.After(time.Second, plug)
				return
			}
			x.world.Trace(n.Name, "host", nic+" is plugged in")
			node.Host.Plug(host.NIC{Name: nic, MAC: network.MACOf(n.Name, nic)})
			// To the rules it is what somebody did to the node by hand.
			x.rules.Tell(oracle.Event{Node: n.Name, What: oracle.Fault{Kind: "drift"}})
		}
		x.world.After(n.Late, plug)
	}
}

func (x *execution) checkpoint(e host.CheckpointEvent) {
	if e.Owner == "" {
		return
	}
	switch e.Kind {
	case host.CheckpointMade:
		if e.Host.Phase() == txn.RollingBack {
			x.figures.Reverts++
			return
		}
		x.figures.Transactions++
	case host.CheckpointCommitted:
		x.figures.Commits++
	case host.CheckpointRolledBack, host.CheckpointExpired:
		x.figures.Rollbacks++
	case host.CheckpointApplied, host.CheckpointLost:
	}
}

func (x *execution) heard(f fault.Fault, begins, ends bool) {
	kind, _ := fault.Find(f.Kind)
	if begins {
		x.figures.Faults++
		if f.Kind == "crash" || f.Kind == "time-travel" {
			x.figures.Crashes++
		}
	}
	x.rules.Tell(oracle.Event{Node: f.Target, What: oracle.Fault{Kind: f.Kind, On: begins && !kind.Instant(), End: ends}})
}

// count what the models know at the end.
func (f *Figures) count(x *execution) {
	f.Runs = 1
	f.Virtual = x.world.Elapsed()
	f.Steps, f.Calls = x.world.Steps(), x.world.Calls()
	if x.cluster == nil {
		return
	}
	f.NodeTime = f.Virtual * time.Duration(len(x.cluster.Nodes()))
	for _, n := range x.cluster.API.Requests() {
		f.Requests += uint64(n)
	}
}

package swarm

import (
	"context"
	"fmt"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/cluster"
	"github.com/nmstate/kubernetes-nmstate/sim/fault"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Options of Execute; the zero value is fine.
type Options struct {
	// Sink gets the trace.
	Sink func(world.Line)
}

// execution is a run under way.
type execution struct {
	ctx      context.Context //nolint:containedctx // The run's own.
	run      *Run
	world    *world.World
	cluster  *cluster.Cluster
	effects  *effects
	injector *fault.Injector
	figures  Figures
}

// Execute runs a run. When ctx ends it stops at the next step; the result is
// void then.
func Execute(ctx context.Context, run Run, options Options) Result {
	w := world.New(run.Seed)
	defer w.Close()
	w.Sink = options.Sink
	x := &execution{ctx: ctx, run: &run, world: w}
	violation := x.carryOut()
	x.figures.count(x)
	result := Result{Seed: run.Seed, Violation: violation, Figures: x.figures, Hash: w.Hash()}
	if x.injector != nil {
		result.Reached = x.injector.Reached()
	}
	if violation != nil {
		result.Figures.Broken = 1
	}
	return result
}

// broken is a violation by this package's own rules.
func (x *execution) broken(rule string, err error) *Violation {
	return &Violation{Rule: rule, Message: err.Error(), At: x.world.Elapsed()}
}

// carryOut goes through the phases.
func (x *execution) carryOut() *Violation {
	if err := x.prepare(); err != nil {
		return x.broken("run", err)
	}
	x.world.Trace("", "phase", "safety")
	if v := x.until(x.run.Safety, nil); v != nil {
		return v
	}
	x.injector.Heal()
	x.world.Trace("", "phase", "liveness")
	return x.until(x.run.Safety+x.run.Liveness, nil)
}

// until lets the run go on until a time, or until it is done.
func (x *execution) until(end time.Duration, done func() bool) *Violation {
	err := x.world.RunUntil(end, func() bool { return x.ctx.Err() != nil || done != nil && done() })
	if err != nil {
		return x.broken("panic", err)
	}
	return nil
}

func (x *execution) prepare() error { return x.prepareWith(x.run.options()) }

func (x *execution) prepareWith(options cluster.Options) error {
	w := x.world
	// Before the cluster's first calls.
	w.Interpose = func(call world.Call) world.Verdict {
		if x.injector == nil {
			return world.Verdict{}
		}
		x.effects.before(call)
		return x.injector.Interpose(call)
	}
	x.cluster = cluster.New(x.ctx, w, options)
	x.effects = newEffects(x.ctx, x.cluster, x.run)
	for _, n := range x.cluster.Nodes() {
		n.Host.OnCheckpoint = x.checkpoint
	}
	injector, err := fault.New(fault.Options{
		World: w, Plan: x.run.Faults, Effects: x.effects,
		Target: func(p *world.Process) string { return processTarget(p.Name) },
		Phase:  x.phase,
		Heard:  func(_ fault.Fault, begins, _ bool) { x.figures.faults(begins) },
	})
	if err != nil {
		return err
	}
	x.injector = injector
	for _, a := range x.run.Actions {
		w.After(a.At, func() {
			if err := x.effects.do(a); err != nil {
				w.Fail(err)
			}
		})
	}
	return nil
}

func (x *execution) phase(node string) string {
	if n := x.cluster.Node(node); n != nil {
		return string(n.Host.Phase())
	}
	return "Gone"
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
	}
	return o
}

func (x *execution) checkpoint(e host.CheckpointEvent) {
	if e.Owner == "" {
		return
	}
	switch e.Kind {
	case host.CheckpointMade:
		x.figures.Transactions++
	case host.CheckpointCommitted:
		x.figures.Commits++
	case host.CheckpointRolledBack, host.CheckpointExpired:
		x.figures.Rollbacks++
	case host.CheckpointApplied, host.CheckpointLost:
	}
}

func (f *Figures) faults(begins bool) {
	if begins {
		f.Faults++
	}
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

package sweep

import (
	"context"
	"fmt"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

const (
	// liveness is how long everything may take to come to its end: a lost probe
	// and the longest back-off, for one node after the other.
	liveness = 2 * time.Hour
	// quiet is for how long nothing may be written then.
	quiet = 10 * time.Minute
)

// run is one run of a recorded scenario.
type run struct {
	ctx     context.Context //nolint:containedctx // The run's own.
	world   *world.World
	cluster *scenario.Sim
	strikes []Strike
	// over is when the last fault has ended.
	over time.Duration
	// heard is told of each call; nil for nobody.
	heard func(world.Call)
}

// newRun builds the cluster of a scenario with faults on its calls.
func newRun(ctx context.Context, s *scenario.Scenario, seed uint64, strikes []Strike, sink func(world.Line)) (*run, error) {
	r := &run{ctx: ctx, world: world.New(seed), strikes: strikes}
	r.world.Sink = sink
	latency := scenario.Latency(r.world)
	r.world.Interpose = func(call world.Call) world.Verdict {
		verdict := latency(call)
		if r.heard != nil {
			r.heard(call)
		}
		for _, s := range r.strikes {
			if s.Call == call.Number {
				r.tell(call, s.Fault)
				verdict = s.Fault.on(call, verdict)
				if s.Fault == PowerCut {
					r.cutPower(call.Process)
				}
			}
		}
		return verdict
	}
	b, err := scenario.Build(ctx, s, r.world)
	r.cluster = b
	return r, err
}

// cutPower of the process's node as it dies.
func (r *run) cutPower(p *world.Process) {
	if n := r.cluster.Node(oracle.TargetOf(p.Name)); n != nil {
		p.OnDeath(func() { n.Reboot(powerless) })
	}
}

// tell the rules of a fault.
func (r *run) tell(call world.Call, f Fault) {
	about := oracle.Event{Node: oracle.TargetOf(call.Process.Name)}
	kind, lasts := f.kind(call.Port), f.lasts(call.Port)
	about.What = oracle.Fault{Kind: kind, On: lasts > 0}
	r.cluster.Rules.Tell(about)
	r.over = max(r.over, r.world.Elapsed()+lasts)
	if lasts > 0 {
		about.What = oracle.Fault{Kind: kind, End: true}
		r.world.After(lasts, func() { r.cluster.Rules.Tell(about) })
	}
}

// until lets the run go on until a time.
func (r *run) until(end time.Duration) error {
	if err := r.world.RunUntil(end, func() bool { return r.ctx.Err() != nil }); err != nil {
		return err
	}
	return r.ctx.Err()
}

// rest lets everything come to its end, then be quiet, and returns it.
func (r *run) rest(s *scenario.Scenario) (End, error) {
	r.strikes = nil
	if err := r.until(max(r.over, r.world.Elapsed())); err != nil {
		return End{}, err
	}
	r.world.Trace("", "phase", "liveness")
	if err := r.cluster.Rules.Settle(r.world.Elapsed()+liveness, r.until); err != nil {
		return End{}, err
	}
	r.world.Trace("", "phase", "quiet")
	if err := r.cluster.Rules.Still(quiet, r.until); err != nil {
		return End{}, err
	}
	picture, err := scenario.Picture(r.ctx, r.cluster, s)
	if err != nil {
		return End{}, fmt.Errorf("looking at the end: %w", err)
	}
	return End{picture, r.lost()}, nil
}

// broken is the violation behind an error; of the rule otherwise where it is no
// oracle's.
func (r *run) broken(otherwise string, err error) *oracle.Violation {
	return oracle.Broken(otherwise, err, r.world.Elapsed())
}

package sweep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Call is a port call of a recorded run.
type Call struct {
	Number     uint64
	Process    string
	Port, Verb string
	Object     string
}

func (c Call) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s %s.%s %s", c.Number, c.Process, c.Port, c.Verb, c.Object))
}

// Recording is a scenario's run without a fault of ours.
type Recording struct {
	Scenario *scenario.Scenario
	Seed     uint64
	// Calls until the last action's check held, by their numbers less one.
	Calls []Call
	// Start is how many of them there were until the scenario began, and StartHash
	// stands for all that happened until then.
	Start     int
	StartHash uint64
	// End without a fault.
	End End

	timing scenario.Timing
	// plant puts a bug into a run with faults; nil but in tests.
	plant func(*run)
}

// Record runs a scenario with its checks, to know when its actions are due, and
// again without, to know how it ends. An error says that it is not for the sweep.
func Record(ctx context.Context, s *scenario.Scenario, seed uint64) (*Recording, error) {
	rec := &Recording{Scenario: s, Seed: seed}
	checked, err := newRun(ctx, s, seed, nil, nil)
	if err != nil {
		return nil, err
	}
	defer checked.world.Close()
	if err := checked.cluster.Begin(ctx); err != nil {
		return nil, fmt.Errorf("recording %s: %w", s.Name, err)
	}
	if rec.timing, err = scenario.Time(ctx, s, checked.cluster); err != nil {
		return nil, fmt.Errorf("recording %w", err)
	}
	followed, err := newRun(ctx, s, seed, nil, nil)
	if err != nil {
		return nil, err
	}
	defer followed.world.Close()
	followed.heard = rec.note
	refused := func(step *scenario.Step, because error) {
		err = fmt.Errorf("%s.txtar:%d: %s: %w", s.Name, step.Line, step.Text, because)
	}
	if v := rec.follow(followed, refused); v != nil {
		return nil, fmt.Errorf("recording %s: %s", s.Name, v)
	}
	if err != nil {
		return nil, err
	}
	followed.heard = nil
	if rec.End, err = followed.rest(s); err != nil {
		return nil, fmt.Errorf("recording %s: %w", s.Name, err)
	}
	return rec, nil
}

func (rec *Recording) note(c world.Call) {
	rec.Calls = append(rec.Calls, Call{c.Number, c.Process.Name, c.Port, c.Verb, c.Object})
}

// follow does what the scenario does.
func (rec *Recording) follow(r *run, refused func(*scenario.Step, error)) *oracle.Violation {
	if err := r.cluster.Begin(r.ctx); err != nil {
		return r.broken("start", err)
	}
	if r.heard != nil {
		rec.Start, rec.StartHash = len(rec.Calls), r.world.Hash()
	}
	if err := scenario.Follow(r.ctx, rec.Scenario, r.cluster, rec.timing, refused); err != nil {
		return r.broken("panic", err)
	}
	return nil
}

// Result is what became of a run with faults.
type Result struct {
	// Violation of a rule; nil when everything held.
	Violation *oracle.Violation `json:"violation,omitempty"`
	// Hash of the trace, and how long it took by the virtual clock.
	Hash uint64        `json:"hash"`
	Took time.Duration `json:"tookNanoseconds"`
}

// Strike runs the scenario's actions again, with faults on some calls; sink gets
// the trace, nil for nobody. When ctx ends it stops, and the result is void.
func (rec *Recording) Strike(ctx context.Context, strikes []Strike, sink func(world.Line)) (Result, error) {
	r, err := newRun(ctx, rec.Scenario, rec.Seed, strikes, sink)
	if err != nil {
		return Result{}, err
	}
	defer r.world.Close()
	if rec.plant != nil {
		rec.plant(r)
	}
	violation := rec.follow(r, nil)
	if violation == nil {
		violation = rec.end(r, strikes)
	}
	if violation != nil {
		r.world.Trace(violation.Node, "violation", violation.Rule+": "+violation.Message)
	}
	return Result{violation, r.world.Hash(), r.world.Elapsed()}, ctx.Err()
}

// end compares how it ends with how it ends without a fault.
func (rec *Recording) end(r *run, strikes []Strike) *oracle.Violation {
	end, err := r.rest(rec.Scenario)
	if err != nil {
		return r.broken("end", err)
	}
	if AnyEnd()[rec.Scenario.Name] != "" || endsOtherwise(rec.Scenario.Name, strikes) {
		return nil
	}
	if err := same(rec.End, end, Turns()[rec.Scenario.Name]); err != nil {
		return r.broken("same-end", err)
	}
	return nil
}

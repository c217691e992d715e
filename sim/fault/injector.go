package fault

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Options of an Injector; all are required.
type Options struct {
	World   *world.World
	Plan    Plan
	Effects Effects
	// Target that a process is: its node's name, or Controllers.
	Target func(p *world.Process) string
	// Phase of the transaction of a node.
	Phase func(node string) string
	// Heard is told when a fault begins and when it ends; an instant one only
	// begins. Nil for nobody.
	Heard func(f Fault, begins, ends bool)
	// Asked tells whether a node waits for a person's word; nil for no.
	Asked func(node string) bool
}

// Injector makes a plan happen.
type Injector struct {
	Options
	latency *latencies
	// waiting are the faults that wait for a call.
	waiting []*active
	// begun are those that last, in the order of their beginning.
	begun   []*active
	events  []*world.Event
	healed  bool
	reached Coverage
	met     Met
	// latest are the faults of late, by target.
	latest map[string][]recent
	// phases in which the nodes were seen last.
	phases map[string]string
}

// active is a fault that waits or lasts.
type active struct {
	fault   Fault
	kind    Kind
	rand    *rand.Rand
	effects Effects
	// seen are the calls that it waited for and that began.
	seen int
	over bool
}

// New schedules the plan. The world's Interpose is for the caller to set.
func New(o Options) (*Injector, error) {
	if err := o.Plan.Check(); err != nil {
		return nil, fmt.Errorf("preparing the faults: %w", err)
	}
	i := &Injector{Options: o, latency: newLatencies(o.World.Rand("latency")), reached: Coverage{}, met: Met{}, latest: map[string][]recent{}, phases: map[string]string{}}
	for _, f := range o.Plan {
		kind, _ := Find(f.Kind)
		a := &active{fault: f, kind: kind, rand: o.World.Rand(fmt.Sprintf("fault/%d", f.ID)), effects: o.Effects}
		if f.Call != "" {
			i.waiting = append(i.waiting, a)
			continue
		}
		i.after(f.At-o.World.Elapsed(), func() { i.begin(a) })
	}
	return i, nil
}

func (i *Injector) after(d time.Duration, action func()) {
	i.events = append(i.events, i.World.After(d, action))
}

// Reached tells which kinds hit which phases.
func (i *Injector) Reached() Coverage { return i.reached }

// Heal ends every fault, and none begins any more; what comes back by itself (a
// crashed process, a rebooting node) still does.
func (i *Injector) Heal() {
	i.healed, i.waiting = true, nil
	for _, e := range i.events {
		e.Stop()
	}
	i.events = nil
	for _, a := range slices.Clone(i.begun) {
		i.end(a)
	}
}

// Active lists the faults that last now.
func (i *Injector) Active() []Fault {
	var all []Fault
	for _, a := range i.begun {
		all = append(all, a.fault)
	}
	return all
}

func (i *Injector) begin(a *active) {
	if i.healed {
		return
	}
	begins := "begin "
	if a.kind.Instant() {
		begins = ""
	}
	i.World.Trace(a.fault.Target, "fault", begins+a.fault.name()+": "+a.fault.when())
	i.tell(a, true)
	i.mark(a)
	// Before its effect: that may end the process that is at work.
	if !a.kind.Instant() {
		i.begun = append(i.begun, a)
		i.after(a.fault.For, func() { i.end(a) })
	}
	if a.kind.begin != nil {
		a.kind.begin(i.Effects, a.fault, a.rand)
	}
}

func (i *Injector) end(a *active) {
	if a.over {
		return
	}
	a.over = true
	i.begun = slices.DeleteFunc(i.begun, func(b *active) bool { return b == a })
	i.World.Trace(a.fault.Target, "fault", "end "+a.fault.name())
	i.tell(a, false)
	if a.kind.end != nil {
		a.kind.end(i.Effects, a.fault, a.rand)
	}
}

// tell whoever wants to know.
func (i *Injector) tell(a *active, begins bool) {
	if i.Heard != nil {
		i.Heard(a.fault, begins, !begins)
	}
}

// Interpose is the verdict on a port call: how long it takes, and what the
// faults make of it.
func (i *Injector) Interpose(call world.Call) world.Verdict {
	verdict := i.latency.of(call)
	if i.healed || len(i.waiting)+len(i.begun) == 0 {
		return verdict
	}
	target := i.Target(call.Process)
	i.count(call.Port+"."+call.Verb, target, &verdict)
	if phase := i.phase(target); phase != anyPhase && phase != i.phases[target] {
		i.phases[target] = phase
		i.count("phase."+phase, target, &verdict)
	}
	for _, a := range i.begun {
		if !a.about(target) {
			continue
		}
		i.reached.add(a.kind.Name, i.phase(target))
		if a.kind.verdict != nil && a.rand.Float64() < a.fault.Rate {
			verdict = joined(verdict, a.kind.verdict(a, call), a.fault)
		}
	}
	return verdict
}

// about tells whether the fault concerns calls of the target.
func (a *active) about(target string) bool {
	return a.fault.Target == target || a.fault.Target == ""
}

// count looks for faults that wait for this call, or for a phase, of which the
// first call tells. They begin before it gets there, but not now: the one who
// calls is at work.
func (i *Injector) count(name, target string, verdict *world.Verdict) {
	if len(i.waiting) == 0 {
		return
	}
	elapsed := i.World.Elapsed()
	due := slices.DeleteFunc(slices.Clone(i.waiting), func(a *active) bool {
		if a.fault.Call != name || !a.about(target) || elapsed < a.fault.At {
			return true
		}
		a.seen++
		return a.seen != max(a.fault.Nth, 1)
	})
	for _, a := range due {
		i.waiting = slices.DeleteFunc(i.waiting, func(b *active) bool { return b == a })
		i.after(a.fault.Delay, func() { i.begin(a) })
		if a.fault.Delay == 0 {
			verdict.Before = max(verdict.Before, time.Microsecond)
		}
	}
}

// joined is both verdicts: the worse of each.
func joined(a, b world.Verdict, f Fault) world.Verdict {
	if b == (world.Verdict{}) {
		return a
	}
	why := f.name()
	if a.Why != "" {
		why = a.Why + ", " + why
	}
	return world.Verdict{
		Before: a.Before + b.Before, After: a.After + b.After,
		Fail: a.Fail || b.Fail, Lose: a.Lose || b.Lose,
		CrashBefore: a.CrashBefore || b.CrashBefore, CrashAfter: a.CrashAfter || b.CrashAfter,
		Why: why,
	}
}

// mark notes the phase in which a fault begins: that of its node, or of every
// node.
func (i *Injector) mark(a *active) {
	i.reached.add(a.kind.Name, i.phase(a.fault.Target))
	i.meet(a)
}

func (i *Injector) phase(target string) string {
	if target == Controllers || target == "" {
		return anyPhase
	}
	return i.Phase(target)
}

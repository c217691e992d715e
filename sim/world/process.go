package world

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"time"
)

// Process is what crashes as a whole: its coroutines and timers. What survives
// a crash (hosts, journals, the API server) belongs to no process.
type Process struct {
	// Name, for the trace and for random streams.
	Name string

	world      *World
	dead       bool
	coroutines []*coroutine // that live, in the order of their making
	made       int
	onDeath    []func()
}

// Process starts one without coroutines.
func (w *World) Process(name string) *Process {
	p := &Process{Name: name, world: w}
	w.processes = append(w.processes, p)
	return p
}

// World of the process.
func (p *Process) World() *World { return p.world }

// Dead tells whether it was killed.
func (p *Process) Dead() bool { return p.dead }

// OnDeath has something done when the process dies, outside of its coroutines.
func (p *Process) OnDeath(action func()) { p.onDeath = append(p.onDeath, action) }

// Go starts a coroutine; it begins at this instant, after the one that runs.
func (p *Process) Go(name string, task func()) {
	if p.dead {
		return
	}
	p.made++
	co := &coroutine{process: p, name: fmt.Sprintf("%s#%d", name, p.made)}
	co.thread = p.world.thread(func() { co.run(task) })
	p.coroutines = append(p.coroutines, co)
	co.wake = p.world.schedule(0, p, func() { p.world.resume(co) })
}

// After is World.After for something that dies with the process.
func (p *Process) After(d time.Duration, action func()) *Event { return p.world.schedule(d, p, action) }

// Kill ends the process at once, as kill -9 does. From one of its own
// coroutines it does not return.
func (p *Process) Kill() {
	if p.dead {
		return
	}
	p.dead = true
	p.world.Trace(p.Name, "killed", "")
	own := p.world.current
	for _, co := range slices.Clone(p.coroutines) {
		if co != own {
			co.wake.Stop()
			co.thread.stop() // Its port call never returns; its deferred calls run.
		}
	}
	for _, action := range p.onDeath {
		action()
	}
	if own != nil && own.process == p {
		panic(killed{})
	}
	p.coroutines = nil
}

// end unwinds the coroutines, and nobody hears of it.
func (p *Process) end() {
	p.dead, p.onDeath = true, nil
	for _, co := range slices.Clone(p.coroutines) {
		co.thread.stop()
	}
	p.coroutines = nil
}

// killed unwinds a coroutine of a dead process.
type killed struct{}

// coroutine is one line of execution of a process.
type coroutine struct {
	process *Process
	name    string
	thread  *thread
	// wake resumes it; what it waits for beside the time is in ready.
	wake  *Event
	ready func() bool
}

func (co *coroutine) run(task func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(killed); !is {
				co.process.world.Fail(fmt.Errorf("%s %s panicked: %v\n%s", co.process.Name, co.name, r, debug.Stack()))
			}
		}
	}()
	task()
}

// resume lets a coroutine run until it parks or ends.
func (w *World) resume(co *coroutine) {
	before := w.current
	w.current = co
	alive := co.thread.goOn()
	w.current = before
	if !alive {
		w.threads = append(w.threads, co.thread)
		p := co.process
		if i := slices.Index(p.coroutines, co); i >= 0 {
			p.coroutines = slices.Delete(p.coroutines, i, i+1)
		}
	}
}

// forever is further than any run.
const forever = time.Duration(math.MaxInt64 / 4)

// park lets the others run until d is over or ready, if given, says so.
func (p *Process) park(d time.Duration, ready func() bool) {
	if p.dead {
		panic(killed{})
	}
	co := p.world.current
	if co == nil || co.process != p {
		panic(fmt.Sprintf("world: %s waits outside of its coroutines", p.Name))
	}
	co.ready = ready
	co.wake = p.world.schedule(d, p, func() { p.world.resume(co) })
	if !co.thread.yield(struct{}{}) || p.dead {
		panic(killed{})
	}
	co.ready = nil
}

// wakeReady resumes, at this instant and in their order, what waits for
// something that is there.
func (p *Process) wakeReady() {
	for _, co := range p.coroutines {
		if co.ready == nil || !co.ready() {
			continue
		}
		co.ready = nil
		co.wake.Stop()
		co.wake = p.world.schedule(0, p, func() { p.world.resume(co) })
	}
}

// WaitFor parks the running coroutine until ready, or until ctx ends; ready is
// looked at after every step of this process, and by Wake.
func (p *Process) WaitFor(ctx context.Context, ready func() bool) error {
	if ctx.Err() == nil && !ready() {
		p.park(forever, func() bool { return ctx.Err() != nil || ready() })
	}
	return ctx.Err()
}

// Wake looks again whether what coroutines wait for is there; for whatever
// changes it from outside of the process.
func (p *Process) Wake() {
	if !p.dead {
		p.wakeReady()
	}
}

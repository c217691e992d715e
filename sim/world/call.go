package world

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Call is a port call at its boundary.
type Call struct {
	// Number counts the calls of the run from 1.
	Number uint64
	// Process that calls.
	Process *Process
	// Port: "api", "backend", "probe", "journal", "foreign", "helper".
	Port string
	// Verb, and what it is about: "patch", "nns/n1 status".
	Verb, Object string
}

func (c Call) String() string {
	return fmt.Sprintf("%d %s.%s %s", c.Number, c.Port, c.Verb, c.Object)
}

// Verdict is what becomes of a call. The zero value lets it pass at once.
type Verdict struct {
	// Before and After are how long the call takes to get there, and back.
	Before, After time.Duration
	// Fail: it never gets there, and the caller is told so.
	Fail bool
	// Lose: it is carried out, and the caller is told that it failed.
	Lose bool
	// CrashBefore and CrashAfter kill the process at the boundary.
	CrashBefore, CrashAfter bool
	// Why is for the trace: the fault that is behind it; empty for none.
	Why string
}

// What a port's model finds in the error of a call that a fault hit; it makes the
// port's own error of it.
var (
	// ErrFailed: the call had no effect.
	ErrFailed = errors.New("injected: the call never got there")
	// ErrLost: the call had its effect, and its reply was lost.
	ErrLost = errors.New("injected: the reply was lost")
)

// Call carries out a port call: it parks on the way there, does it at one instant, and
// parks on the way back. do may itself park (p.Clock().Wait) when the thing
// takes its time. When ctx ends on the way, its error is returned; on the way
// back the effect is there all the same.
func (p *Process) Call(ctx context.Context, port, verb, object string, do func() error) error {
	if p.dead {
		panic(killed{})
	}
	w := p.world
	w.calls++
	call := Call{Number: w.calls, Process: p, Port: port, Verb: verb, Object: object}
	var v Verdict
	if w.Interpose != nil {
		v = w.Interpose(call)
	}
	if v.Why != "" {
		w.Trace(p.Name, "fault", call.String()+": "+v.Why)
	}
	if !p.pass(ctx, v.Before) {
		return ctx.Err()
	}
	if v.CrashBefore {
		p.Kill()
	}
	if v.Fail {
		w.Trace(p.Name, port, verb+" "+object+": failed")
		return ErrFailed
	}
	err := do()
	if p.dead {
		panic(killed{})
	}
	w.Trace(p.Name, port, said(verb, object, err))
	if v.CrashAfter {
		p.Kill()
	}
	if !p.pass(ctx, v.After) {
		return ctx.Err()
	}
	if v.Lose {
		return ErrLost
	}
	return err
}

func said(verb, object string, err error) string {
	if err != nil {
		return verb + " " + object + ": " + err.Error()
	}
	return verb + " " + object
}

// pass lets time pass; false when ctx has ended, before or meanwhile.
func (p *Process) pass(ctx context.Context, d time.Duration) bool {
	if d > 0 && ctx.Err() == nil {
		p.park(d, func() bool { return ctx.Err() != nil })
	}
	return ctx.Err() == nil
}

package scenario

import (
	"context"
	"fmt"
	"time"
)

// Timing is when the actions of a run were carried out, since its beginning.
type Timing struct {
	// begun are the beginnings of the steps, and entered the instants at which
	// phases were entered that steps wait for, each in their order.
	begun, entered []time.Duration
	// End of the last step.
	End time.Duration
}

// Time carries out a scenario with its checks, as Run does, and notes when.
func Time(ctx context.Context, s *Scenario, b *Sim) (Timing, error) {
	notes := &noting{Sim: b}
	r, err := begin(ctx, s, notes, nil)
	if err != nil {
		return Timing{}, err
	}
	for _, step := range s.Steps {
		notes.begun = append(notes.begun, b.Elapsed())
		if err := r.line(ctx, step); err != nil {
			return Timing{}, err
		}
	}
	notes.End = b.Elapsed()
	return notes.Timing, nil
}

// noting is a cluster whose scenario notes when phases were entered.
type noting struct {
	*Sim
	Timing
}

// Enter notes when it was so far.
func (n *noting) Enter(ctx context.Context, node, phase string) error {
	err := n.Sim.Enter(ctx, node, phase)
	n.entered = append(n.entered, n.Elapsed())
	return err
}

// Follow carries out what a scenario does, at the instants of another run of it, and
// looks at none of its checks: with a fault more they need not hold at that
// instant, or at all. refused is told what could not be done, which may be for the
// fault; nil for nobody. The error is the world's.
func Follow(ctx context.Context, s *Scenario, b *Sim, t Timing, refused func(*Step, error)) error {
	r, err := begin(ctx, s, &following{Sim: b, Timing: t}, nil)
	if err != nil {
		return err
	}
	for i, step := range s.Steps {
		if err := b.pass(ctx, t.begun[i]); err != nil {
			return err
		}
		if step.form.watches {
			continue
		}
		b.World.Trace("", "step", step.Text)
		if err := step.form.does(ctx, r, step); err != nil && refused != nil {
			refused(step, err)
		}
	}
	return b.pass(ctx, t.End)
}

// pass lets time pass until an instant since the beginning.
func (b *Sim) pass(ctx context.Context, at time.Duration) error {
	if err := b.World.RunUntil(b.began+at, func() bool { return ctx.Err() != nil }); err != nil {
		return err
	}
	return ctx.Err()
}

// following is a cluster whose phases are entered when they were in another run.
type following struct {
	*Sim
	Timing
}

// Enter waits for the instant.
func (f *following) Enter(ctx context.Context, node, phase string) error {
	if len(f.entered) == 0 {
		return fmt.Errorf("nobody noted when %s entered %s", node, phase)
	}
	at := f.entered[0]
	f.entered = f.entered[1:]
	return f.pass(ctx, at)
}

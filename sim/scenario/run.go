package scenario

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// doing carries out a command, and holding tells what is wrong with a check,
// empty for nothing.
type (
	doing   func(ctx context.Context, r *run, s *Step) error
	holding func(ctx context.Context, r *run, a Args) (wrong string, err error)
)

// run is one run of a scenario.
type run struct {
	scenario *Scenario
	Backend
	marks map[string]map[string]moment
	// said gets the transcript.
	said func(line string)
}

// moment is a node at a mark.
type moment struct {
	snapshot string
	applies  int
}

// Run carries out a scenario and returns the picture of the end: the conditions
// of every policy, enactment and node, and the kernel of every node. said gets the
// transcript; nil for none. The error names the line of the script.
func Run(ctx context.Context, s *Scenario, b Backend, said func(line string)) (string, error) {
	r, err := begin(ctx, s, b, said)
	if err != nil {
		return "", err
	}
	for _, step := range s.Steps {
		if err := r.line(ctx, step); err != nil {
			return "", err
		}
	}
	end, err := settled(ctx, b, &s.Topology)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	return end, nil
}

// begin remembers every node as it is.
func begin(ctx context.Context, s *Scenario, b Backend, said func(line string)) (*run, error) {
	if said == nil {
		said = func(string) {}
	}
	r := &run{scenario: s, Backend: b, marks: map[string]map[string]moment{}, said: said}
	if err := r.mark(ctx, "start"); err != nil {
		return nil, fmt.Errorf("%s: at the start: %w", s.Name, err)
	}
	return r, nil
}

// line carries out a line of the script; its error names it.
func (r *run) line(ctx context.Context, step *Step) error {
	if err := r.step(ctx, step); err != nil {
		return fmt.Errorf("%s.txtar:%d: %s: %w", r.scenario.Name, step.Line, step.Text, err)
	}
	return nil
}

func (r *run) step(ctx context.Context, s *Step) error {
	if !s.form.looks {
		if err := r.Watch(ctx); err != nil {
			return err
		}
	}
	began := r.Elapsed()
	err := s.form.does(ctx, r, s)
	outcome := ""
	if took := r.Elapsed() - began; took > 0 {
		outcome = fmt.Sprintf("  (+%.3fs)", took.Seconds())
	}
	if err != nil {
		outcome = "  FAILED: " + err.Error()
	}
	r.said(fmt.Sprintf("%11.3fs %s%s", began.Seconds(), s.Text, outcome))
	return err
}

func (r *run) mark(ctx context.Context, name string) error {
	at := map[string]moment{}
	for _, n := range r.scenario.Topology.Nodes {
		snapshot, err := r.Snapshot(ctx, n.Name)
		if err != nil {
			return err
		}
		applies, err := r.Applies(ctx, n.Name)
		if err != nil {
			return err
		}
		at[n.Name] = moment{snapshot, applies}
	}
	r.marks[name] = at
	return nil
}

// nodes are those that a word of the kind NODES means.
func (r *run) nodes(said string) []string {
	if said != every {
		return []string{said}
	}
	var all []string
	for _, n := range r.scenario.Topology.Nodes {
		all = append(all, n.Name)
	}
	return all
}

// each does something for each node that is meant.
func (r *run) each(said string, f func(node string) error) error {
	for _, node := range r.nodes(said) {
		if err := f(node); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the check holds.
func (r *run) await(ctx context.Context, s *Step, patience time.Duration) error {
	wrong := ""
	held, err := r.Until(ctx, patience, func() (bool, error) {
		var err error
		wrong, err = r.holds(ctx, s)
		if err != nil {
			wrong = err.Error() // The API server may be away for a while.
		}
		return wrong == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w; when it ended: %s", err, wrong)
	}
	if !held {
		return fmt.Errorf("not within %s: %s", patience, wrong)
	}
	return nil
}

// holds tells what is wrong with a check, empty for nothing.
func (r *run) holds(ctx context.Context, s *Step) (string, error) {
	return s.form.holds(ctx, r, s.Args)
}

// change reads an object, has it changed and patches it.
func change[T client.Object](ctx context.Context, r *run, object T, alter func(T)) error {
	before := object.DeepCopyObject().(T)
	if err := r.Client().Get(ctx, client.ObjectKeyFromObject(object), before); err != nil {
		return fmt.Errorf("reading %s: %w", object.GetName(), err)
	}
	after := before.DeepCopyObject().(T)
	alter(after)
	if err := r.Client().Patch(ctx, after, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("changing %s: %w", object.GetName(), err)
	}
	return nil
}

func span(said string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(said); err == nil {
		return d
	}
	return otherwise
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// replay is one run that a person looks at: its trace in the terminal, its
// timeline in a file.
type replay struct {
	options *options
	out     *bufio.Writer
	lines   *trace.Writer
	// recorder of the timeline; nil where none is wanted.
	recorder *trace.Recorder
	began    time.Time
}

// replay begins one, of a cluster that starts with these nodes.
func (o *options) replay(out io.Writer, nodes []string) *replay {
	r := &replay{options: o, out: bufio.NewWriter(out), began: time.Now()}
	file, is := out.(*os.File)
	r.lines = trace.NewWriter(r.out, trace.Options{Colour: is && trace.Terminal(file), Nodes: o.traceNodes, Kinds: o.traceKinds})
	if o.parts.timeline != "" {
		r.recorder = trace.NewRecorder(nodes...)
	}
	return r
}

func (r *replay) silent() bool { return r.options.quiet || r.options.json }

// sink takes the lines of the trace; nil where nobody looks at them.
func (r *replay) sink() func(world.Line) {
	switch {
	case r.recorder == nil && r.silent():
		return nil
	case r.recorder == nil:
		return r.lines.Line
	case r.silent():
		return r.recorder.Line
	}
	return trace.Tee(r.lines.Line, r.recorder.Line)
}

// took is the time of this machine.
func (r *replay) took() time.Duration { return time.Since(r.began).Round(time.Millisecond) }

// end writes the result, then the timeline of a run of this length.
func (r *replay) end(length time.Duration, result any, inWords func() error, complete func(*trace.Record)) error {
	if err := errors.Join(r.options.write(r.out, result, inWords), r.lines.Err(), r.out.Flush()); err != nil {
		return err
	}
	if r.recorder == nil {
		return nil
	}
	record := r.recorder.Record(length)
	complete(record)
	return write(record, r.options.parts.timeline)
}

// write a timeline to a file.
func write(record *trace.Record, name string) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("writing the timeline: %w", err)
	}
	out := bufio.NewWriter(file)
	if err := errors.Join(record.Chrome(out), out.Flush(), file.Close()); err != nil {
		return fmt.Errorf("writing the timeline to %s: %w", name, err)
	}
	return nil
}

// verdict on a run: ok, or which rule it broke.
func verdict[Broken interface {
	comparable
	fmt.Stringer
}](violation Broken) string {
	if violation == *new(Broken) {
		return "ok"
	}
	return "BROKEN " + violation.String()
}

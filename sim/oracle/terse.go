package oracle

import (
	"time"
)

// terse: the controllers write a bounded number of times about one node, whatever it
// says: no node makes them write on and on.
type terse struct {
	// wrote is how often in the minute, by node.
	minute time.Duration
	wrote  map[string]int
}

// mostAMinute is far above what a node with all policies of a run needs.
const mostAMinute = 600

func newTerse() *terse { return &terse{wrote: map[string]int{}} }

func (*terse) Name() string { return "terse" }

func (t *terse) Observe(f *Facts, e Event) error {
	w, is := e.What.(Wrote)
	if role, _ := roleOf(w.Process); !is || e.Node == "" || role != roleControllers {
		return nil
	}
	if minute := f.Elapsed().Truncate(time.Minute); minute != t.minute {
		t.minute = minute
		clear(t.wrote)
	}
	t.wrote[e.Node]++
	if t.wrote[e.Node] > mostAMinute {
		// It is about the controllers: also a node that lies must not have them do this.
		return on("", "the controllers wrote about node %s %d times in a minute", e.Node, t.wrote[e.Node])
	}
	return nil
}

package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// chromeTrace is a file in Chrome's trace event format, which ui.perfetto.dev and
// chrome://tracing open. A row is a process there, with a thread for each track.
type chromeTrace struct {
	Unit   string            `json:"displayTimeUnit"`
	About  map[string]string `json:"otherData"`
	Events []chromeEvent     `json:"traceEvents"`

	row    int
	tracks map[string]int
}

// chromeEvent is a slice ("X"), an instant ("i") or a name ("M"). Times are microseconds.
type chromeEvent struct {
	Phase string         `json:"ph"`
	Name  string         `json:"name"`
	Row   int            `json:"pid"`
	Track int            `json:"tid"`
	At    int64          `json:"ts"`
	Took  *int64         `json:"dur,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Chrome writes the record as a trace for Perfetto.
func (r *Record) Chrome(w io.Writer) error {
	c := &chromeTrace{Unit: "ms", About: map[string]string{
		"title": r.Title, "seed": strconv.FormatUint(r.Seed, 10), "replay": r.Replay, "hash": fmt.Sprintf("%016x", r.Hash),
		"length": r.Length.String(), "lines left out": strconv.Itoa(r.Dropped),
	}}
	for _, fact := range r.Facts {
		c.About[fact[0]] = fact[1]
	}
	for _, row := range r.Rows {
		c.add(row)
	}
	for _, v := range r.Violations {
		c.Events = append(c.Events, chromeEvent{Phase: "i", Name: "VIOLATION " + v.Text, Row: 1, At: v.At.Microseconds(), Scope: "g", Args: args("node", v.Who)})
	}
	if err := json.NewEncoder(w).Encode(c); err != nil {
		return fmt.Errorf("writing the trace: %w", err)
	}
	return nil
}

func (c *chromeTrace) add(row *Row) {
	c.row++
	c.tracks = map[string]int{}
	c.name("process_name", 0, row.Name)
	c.Events = append(c.Events, chromeEvent{Phase: "M", Name: "process_sort_index", Row: c.row, Args: map[string]any{"sort_index": c.row}})
	for _, fault := range row.Faults {
		c.slice("fault "+fault.Name, fault, fault.Name, args("what", fault.Text))
	}
	for _, t := range row.Transactions {
		c.slice("transactions", &t.Span, t.label(), args("generation", t.Generation, "result", t.Result, "message", t.Text))
		for _, phase := range t.Phases {
			c.slice("transactions", phase, phase.Name, nil)
		}
	}
	for _, life := range row.Lives {
		c.slice(life.Name, life, "alive", args("started", life.Text))
	}
	for _, cut := range row.Cuts {
		c.slice("no way to "+cut.Name, cut, "cut", args("why", cut.Text))
	}
	for _, mark := range row.Marks {
		c.instant("marks", mark)
	}
	for _, line := range row.Lines {
		c.instant("trace of "+line.Who, line)
	}
}

// track is the number of a row's track.
func (c *chromeTrace) track(name string) int {
	if c.tracks[name] == 0 {
		c.tracks[name] = len(c.tracks) + 1
		c.name("thread_name", c.tracks[name], name)
	}
	return c.tracks[name]
}

func (c *chromeTrace) name(kind string, track int, name string) {
	c.Events = append(c.Events, chromeEvent{Phase: "M", Name: kind, Row: c.row, Track: track, Args: map[string]any{"name": name}})
}

// slice of a track; those of one track are apart, or one holds the other.
func (c *chromeTrace) slice(track string, s *Span, name string, more map[string]any) {
	if s.Open {
		if more == nil {
			more = map[string]any{}
		}
		more["open"] = true
	}
	at, took := s.Begin.Microseconds(), s.End.Microseconds()-s.Begin.Microseconds()
	c.Events = append(c.Events, chromeEvent{Phase: "X", Name: name, Row: c.row, Track: c.track(track), At: at, Took: &took, Args: more})
}

func (c *chromeTrace) instant(track string, l world.Line) {
	c.Events = append(c.Events, chromeEvent{
		Phase: "i", Name: l.What + ": " + l.Text, Row: c.row, Track: c.track(track), At: l.At.Microseconds(), Scope: "t", Args: args("who", l.Who),
	})
}

// args are names and values, without those that are empty.
func args(pairs ...string) map[string]any {
	all := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all[pairs[i]] = pairs[i+1]
		}
	}
	return all
}

// label is the policy of a transaction, or why there is none.
func (t *Transaction) label() string {
	switch {
	case t.Drift:
		return "drift"
	case t.Policy == "":
		return "by hand"
	}
	return t.Policy
}

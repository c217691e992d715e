package trace

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

//go:embed timeline.html
var pageText string

//go:embed timeline.css
var styleText string

//go:embed timeline.js
var scriptText string

// page is what the template gets.
type page struct {
	*Record
	Style  template.CSS
	Script template.JS
	Data   data
}

// HTML writes the timeline: one file that needs nothing else.
func (r *Record) HTML(w io.Writer) error {
	parsed, err := template.New("timeline").Parse(pageText)
	if err != nil {
		return fmt.Errorf("reading the timeline's template: %w", err)
	}
	p := page{Record: r, Style: template.CSS(styleText), Script: template.JS(scriptText), Data: r.data()} //nolint:gosec // Our own files.
	if err := parsed.Execute(w, p); err != nil {
		return fmt.Errorf("writing the timeline: %w", err)
	}
	return nil
}

// HashText is the hash as it is printed everywhere.
func (r *Record) HashText() string { return strconv.FormatUint(r.Hash, 16) }

// data is the record as the script reads it: lists instead of objects, and
// times in microseconds.
type data struct {
	Length     int64  `json:"length"`
	Rows       []line `json:"rows"`
	Violations []line `json:"violations"`
	// Who are the names in lines, by number.
	Who     []string `json:"who"`
	Kinds   []string `json:"kinds"`
	Lines   []line   `json:"lines"`
	Dropped int      `json:"dropped"`
}

type line []any

func (r *Record) data() data {
	d := data{Length: r.Length.Microseconds(), Dropped: r.Dropped, Rows: []line{}, Violations: []line{}, Lines: []line{}}
	for _, row := range r.Rows {
		d.Rows = append(d.Rows, row.data())
	}
	for _, l := range r.Violations {
		d.Violations = append(d.Violations, line{l.At.Microseconds(), l.Who, l.Text})
	}
	who, kinds := numbers{}, numbers{}
	for _, l := range r.Lines {
		d.Lines = append(d.Lines, line{l.At.Microseconds(), who.of(l.Who, &d.Who), kinds.of(l.What, &d.Kinds), l.Text})
	}
	return d
}

// numbers counts names in the order in which they come.
type numbers map[string]int

func (n numbers) of(name string, names *[]string) int {
	number, ok := n[name]
	if !ok {
		number = len(*names)
		n[name] = number
		*names = append(*names, name)
	}
	return number
}

func (row *Row) data() line {
	transactions := []line{}
	for _, t := range row.Transactions {
		transactions = append(transactions, line{
			t.Begin.Microseconds(), t.End.Microseconds(), flag(t.Open), t.label(), t.Generation, t.Result, t.Text, spans(t.Phases),
		})
	}
	return line{row.Name, flag(row.Node), spans(row.Lives), transactions, spans(row.Faults), spans(row.Cuts), marks(row.Marks), row.Dropped}
}

func (t *Transaction) label() string {
	switch {
	case t.Drift:
		return "drift"
	case t.Policy == "":
		return "by hand"
	}
	return t.Policy
}

func spans(list []*Span) []line {
	lines := []line{}
	for _, s := range list {
		lines = append(lines, line{s.Begin.Microseconds(), s.End.Microseconds(), flag(s.Open), s.Name, s.Text})
	}
	return lines
}

func marks(list []world.Line) []line {
	lines := []line{}
	for _, l := range list {
		lines = append(lines, line{l.At.Microseconds(), l.Who, l.What, l.Text})
	}
	return lines
}

func flag(is bool) int {
	if is {
		return 1
	}
	return 0
}

// LengthText is the length as a person says it.
func (r *Record) LengthText() string { return r.Length.Round(time.Millisecond).String() }

// Counted is what the head of the page counts.
func (r *Record) Counted() string {
	var nodes, transactions, faults, open int
	for _, row := range r.Rows {
		if row.Node {
			nodes++
		}
		transactions += len(row.Transactions)
		faults += len(row.Faults)
		for _, t := range row.Transactions {
			if t.Open {
				open++
			}
		}
		for _, l := range row.Marks {
			if l.What == Fault {
				faults++
			}
		}
	}
	text := r.LengthText() + " simulated, " + counted(nodes, "node") + ", " + counted(transactions, "transaction") + ", " + counted(faults, "fault")
	if open > 0 {
		text += fmt.Sprintf(", %d still open at the end", open)
	}
	return text
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

package trace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Recorder makes a Record of lines. Its Line is for World.Sink.
type Recorder struct {
	record Record
	nodes  map[string]*Row
	others map[string]*Row
	// calls and told are the last lines of port calls and of all else.
	calls, told []world.Line
	// What is under way, by row and name.
	lives, faults, cuts map[key]*Span
	open, last          map[*Row]*Transaction
	// drift tells that the next transaction corrects it.
	drift map[*Row]bool
}

type key struct{ row, name string }

// cluster is the row of what is nobody's.
const cluster = "cluster"

// NewRecorder has a row for each node from the start; others come as lines tell
// of them.
func NewRecorder(nodes ...string) *Recorder {
	r := &Recorder{
		nodes: map[string]*Row{}, others: map[string]*Row{},
		lives: map[key]*Span{}, faults: map[key]*Span{}, cuts: map[key]*Span{},
		open: map[*Row]*Transaction{}, last: map[*Row]*Transaction{}, drift: map[*Row]bool{},
	}
	r.other(cluster)
	for _, name := range nodes {
		r.node(name)
	}
	return r
}

// Tee hands each line to all of the sinks.
func Tee(sinks ...func(world.Line)) func(world.Line) {
	return func(l world.Line) {
		for _, sink := range sinks {
			sink(l)
		}
	}
}

// Line takes one line.
func (r *Recorder) Line(l world.Line) {
	r.keep(l)
	if l.What == Node && l.Who != "" {
		r.node(l.Who)
	}
	row := r.row(l.Who)
	switch l.What {
	case Start:
		r.start(row, l)
	case Killed:
		r.killed(row, l)
	case Log, Error:
		r.alive(row, l)
		r.log(row, l)
	case Reach:
		r.reach(row, l)
	case Fault:
		r.fault(row, l)
	case Violation, Fail:
		r.record.Violations = append(r.record.Violations, l)
	case Host, Policy, Node, Leader, Phase, Step:
		row.mark(l)
	case Checkpoint:
		if strings.HasSuffix(l.Text, "expired") || strings.HasSuffix(l.Text, "lost") {
			row.mark(l)
		}
	default:
		if slices.Contains(ports, l.What) {
			r.alive(row, l)
		}
	}
}

// keep remembers the line, and forgets the oldest when there are too many.
func (r *Recorder) keep(l world.Line) {
	list := &r.told
	if slices.Contains(ports, l.What) {
		list = &r.calls
	}
	if *list = append(*list, l); len(*list) >= 2*maxLines {
		r.record.Dropped += len(*list) - maxLines
		*list = slices.Delete(*list, 0, len(*list)-maxLines)
	}
}

func (r *Recorder) node(name string) *Row {
	if r.nodes[name] == nil {
		r.nodes[name] = &Row{Name: name, Node: true}
	}
	return r.nodes[name]
}

func (r *Recorder) other(name string) *Row {
	if r.others[name] == nil {
		r.others[name] = &Row{Name: name}
	}
	return r.others[name]
}

// row of a process or node: "handler n1" is of n1, if there is such a node. The
// instances of what is no node's share one: "controllers-1" is of "controllers".
func (r *Recorder) row(who string) *Row {
	if who == "" {
		return r.others[cluster]
	}
	if row := r.nodes[who]; row != nil {
		return row
	}
	parts := words(who)
	for _, word := range parts {
		if row := r.nodes[word]; row != nil {
			return row
		}
	}
	if len(parts) == 0 {
		return r.others[cluster]
	}
	return r.other(instanceOf(parts[0]))
}

func instanceOf(name string) string {
	if kind, is := strings.CutSuffix(strings.TrimRight(name, "0123456789"), "-"); is && kind != "" {
		return kind
	}
	return name
}

func (row *Row) mark(l world.Line) {
	if len(row.Marks) >= maxMarks {
		row.Dropped++
		return
	}
	row.Marks = append(row.Marks, l)
}

// start begins a process's life.
func (r *Recorder) start(row *Row, l world.Line) {
	at := key{row.Name, l.Who}
	if life := r.lives[at]; life != nil {
		if life.Begin == l.At {
			return // Its first words came before.
		}
		end(life, l.At)
	}
	life := &Span{Begin: l.At, Open: true, Name: l.Who, Text: l.Text}
	r.lives[at] = life
	row.Lives = append(row.Lives, life)
}

// alive begins the life of a process whose start nobody told.
func (r *Recorder) alive(row *Row, l world.Line) {
	if r.lives[key{row.Name, l.Who}] == nil && l.Who != "" {
		r.start(row, world.Line{At: l.At, Who: l.Who})
	}
}

func (r *Recorder) killed(row *Row, l world.Line) {
	row.mark(l)
	at := key{row.Name, l.Who}
	if life := r.lives[at]; life != nil {
		end(life, l.At)
		delete(r.lives, at)
	}
	if t := r.open[row]; t != nil && t.process == l.Who {
		t.enter(Down, l.At)
	}
}

func end(s *Span, at time.Duration) { s.End, s.Open = at, false }

// reach takes "gateway cut: why" or "gateway ok".
func (r *Recorder) reach(row *Row, l world.Line) {
	state, why, _ := strings.Cut(l.Text, ": ")
	target, state, _ := strings.Cut(state, " ")
	at := key{row.Name, target}
	cut := r.cuts[at]
	switch {
	case state == "ok" && cut != nil:
		end(cut, l.At)
		delete(r.cuts, at)
	case state == "cut" && cut == nil:
		cut = &Span{Begin: l.At, Open: true, Name: target, Text: why}
		r.cuts[at] = cut
		row.Cuts = append(row.Cuts, cut)
	}
}

// fault takes "begin NAME: text", "end NAME", or an instant.
func (r *Recorder) fault(row *Row, l world.Line) {
	name, text, _ := strings.Cut(l.Text, ": ")
	if begun, ok := strings.CutPrefix(name, "begin "); ok {
		span := &Span{Begin: l.At, Open: true, Name: begun, Text: text}
		if at := (key{row.Name, begun}); r.faults[at] == nil {
			r.faults[at] = span
			row.Faults = append(row.Faults, span)
		}
		return
	}
	if ended, ok := strings.CutPrefix(name, "end "); ok {
		at := key{row.Name, ended}
		if span := r.faults[at]; span != nil {
			end(span, l.At)
			delete(r.faults, at)
		}
		return
	}
	row.mark(l)
}

// Record of the run, which ended then. The recorder takes no more lines.
func (r *Recorder) Record(length time.Duration) *Record {
	record := &r.record
	record.Length = length
	for _, rows := range []map[string]*Row{r.others, r.nodes} {
		names := make([]string, 0, len(rows))
		for name := range rows {
			names = append(names, name)
		}
		slices.SortFunc(names, byNumber)
		for _, name := range names {
			record.Rows = append(record.Rows, rows[name])
		}
	}
	for _, row := range record.Rows {
		row.close(length)
	}
	for _, l := range merged(r.calls, r.told) {
		row := r.row(l.Who)
		row.Lines = append(row.Lines, l)
	}
	return record
}

func (row *Row) close(at time.Duration) {
	spans := slices.Concat(row.Lives, row.Faults, row.Cuts)
	for _, t := range row.Transactions {
		spans = append(append(spans, t.Phases...), &t.Span)
	}
	for _, span := range spans {
		if span.Open {
			span.End = at
		}
	}
}

// byNumber sorts the cluster first, and n2 before n10.
func byNumber(a, b string) int {
	switch cluster {
	case a:
		return -1
	case b:
		return 1
	}
	trimmed := func(s string) (string, string) {
		head := strings.TrimRight(s, "0123456789")
		return head, s[len(head):]
	}
	headA, numberA := trimmed(a)
	headB, numberB := trimmed(b)
	if order := strings.Compare(headA, headB); order != 0 {
		return order
	}
	if len(numberA) != len(numberB) {
		return len(numberA) - len(numberB)
	}
	return strings.Compare(numberA, numberB)
}

// merged keeps the order of time; what a call led to stands after it.
func merged(calls, told []world.Line) []world.Line {
	all := slices.Concat(calls, told)
	slices.SortStableFunc(all, func(a, b world.Line) int { return cmp.Compare(a.At, b.At) })
	return all
}

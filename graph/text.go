package graph

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Paint colours a piece of text; nil leaves it as it is.
type Paint func(tone Tone, text string) string

// Text draws boxes and lines with the characters that terminals have for them. Lines
// that cross without meeting are drawn as │ with a gap to both sides.
func Text(g Graph, paint Paint) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	ends := g.ends()
	laid, err := lay(g, spacing{
		node: 0, rank: 6,
		size: func(n Node) (float64, float64) {
			return float64(g.wide(n) + 4), float64(max(len(n.Lines), places(ends, g.index(n.ID))) + 2)
		},
		label: func(Edge) (float64, float64) { return 0, 0 },
	})
	if err != nil {
		return "", err
	}
	for i, edge := range g.Edges {
		if from, to := g.index(edge.From), g.index(edge.To); laid.nodes[from].x > laid.nodes[to].x {
			ends[i].from, ends[i].to = to, from
		}
	}
	s := newSheet(g, laid, ends)
	gaps := s.routed()
	c := canvas{}
	s.draw(&c, gaps)
	text := c.text(paint)
	if g.Title != "" {
		text = g.Title + "\n" + text
	}
	return text, nil
}

// texts are the lines of a node as they stand in a terminal.
func (g Graph) texts(n Node) []string {
	if n.Group == "" {
		return n.Lines
	}
	return append([]string{g.label(n.Group) + " " + n.Lines[0]}, n.Lines[1:]...)
}

func (g Graph) wide(n Node) int {
	wide := 0
	for _, text := range g.texts(n) {
		wide = max(wide, utf8.RuneCountInString(text))
	}
	return wide
}

// item stands in a column: a box, or an edge that passes.
type item struct {
	node int // -1 for an edge that passes
	top  int
	high int
	// wanted is the middle that the layout has.
	wanted float64
	// ins and outs are how many places there are on the left and right side at which
	// lines end.
	ins, outs int
}

// row of one of so many places.
func (i item) row(place, of int) int {
	if i.node < 0 {
		return i.top
	}
	return i.top + 1 + (2*place+1)*(i.high-2)/(2*max(of, 1))
}

// stop of an edge at an item: its places there.
type stop struct {
	*item
	in, out int
}

func (s stop) left() int  { return s.row(s.in, s.ins) }
func (s stop) right() int { return s.row(s.out, s.outs) }

// sheet is a layout in columns and rows of characters.
type sheet struct {
	g       Graph
	columns [][]*item
	widths  []int
	ways    []way
}

func newSheet(g Graph, laid layout, ends []ends) *sheet {
	s := &sheet{g: g}
	var middles []float64
	for _, b := range laid.nodes {
		if !slices.Contains(middles, b.x) {
			middles = append(middles, b.x)
		}
	}
	slices.Sort(middles)
	s.columns, s.widths = make([][]*item, len(middles)), make([]int, len(middles))
	items, columns := make([]*item, len(g.Nodes)), make([]int, len(g.Nodes))
	for i, b := range laid.nodes {
		column := slices.Index(middles, b.x)
		items[i] = &item{node: i, high: int(b.height), wanted: b.y}
		columns[i] = column
		s.columns[column] = append(s.columns[column], items[i])
		s.widths[column] = max(s.widths[column], int(b.width))
	}
	for i, end := range ends {
		one := way{ends: end, column: columns[end.from], stops: []stop{{item: items[end.from]}}}
		for column := columns[end.from] + 1; column < columns[end.to]; column++ {
			passes := &item{node: -1, high: 1, wanted: laid.edges[i].at(middles[column]), ins: 1, outs: 1}
			one.stops = append(one.stops, stop{item: passes})
			s.columns[column] = append(s.columns[column], passes)
		}
		one.stops = append(one.stops, stop{item: items[end.to]})
		s.ways = append(s.ways, one)
	}
	s.ports()
	for _, column := range s.columns {
		slices.SortStableFunc(column, func(a, b *item) int { return cmp.Compare(a.wanted, b.wanted) })
		for _, one := range column {
			one.top = int(math.Round(one.wanted - float64(one.high)/2))
		}
	}
	s.settle()
	return s
}

func (g Graph) index(id string) int {
	return slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == id })
}

// at is how high a line runs there. It may run to the left.
func (l line) at(x float64) float64 {
	for i := 1; i < len(l.points); i++ {
		a, b := l.points[i-1], l.points[i]
		if a.X > b.X {
			a, b = b, a
		}
		if a.X <= x && x <= b.X && a.X < b.X {
			return a.Y + (b.Y-a.Y)*(x-a.X)/(b.X-a.X)
		}
	}
	return 0
}

// settle pushes items down until none stands on another one.
func (s *sheet) settle() {
	least := math.MaxInt
	for _, column := range s.columns {
		end := math.MinInt
		for _, one := range column {
			one.top = max(one.top, end)
			end = one.top + one.high
			least = min(least, one.top)
		}
	}
	for _, column := range s.columns {
		for _, one := range column {
			one.top -= least
		}
	}
}

// draw puts everything onto the canvas.
func (s *sheet) draw(c *canvas, gaps []gap) {
	x := 0
	for i, column := range s.columns {
		for _, one := range column {
			if one.node < 0 {
				c.across(x, x+s.widths[i]-1, one.top)
				continue
			}
			node := s.g.Nodes[one.node]
			wide := s.g.wide(node) + 4
			c.box(x, one.top, wide, one.high, s.g.texts(node), node.Tone)
			for place := range one.outs {
				row := one.row(place, one.outs)
				c.connect(x+wide-1, row, east)
				c.across(x+wide, x+s.widths[i]-1, row)
			}
			for place := range one.ins {
				c.connect(x, one.row(place, one.ins), west)
			}
		}
		x += s.widths[i]
		if i < len(gaps) {
			gaps[i].draw(c, x)
			x += gaps[i].wide()
		}
	}
}

// text is what stands on the canvas, without blanks at the ends of lines.
func (c *canvas) text(paint Paint) string {
	var out strings.Builder
	for _, row := range c.rows {
		end := len(row)
		for end > 0 && row[end-1].blank() {
			end--
		}
		for begin := 0; begin < end; {
			stop := begin + 1
			for stop < end && row[stop].tone == row[begin].tone {
				stop++
			}
			var run strings.Builder
			for _, cell := range row[begin:stop] {
				run.WriteRune(cell.rune())
			}
			if paint == nil || row[begin].tone == Plain {
				out.WriteString(run.String())
			} else {
				out.WriteString(paint(row[begin].tone, run.String()))
			}
			begin = stop
		}
		out.WriteString("\n")
	}
	return out.String()
}

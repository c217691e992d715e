package graph

import (
	"maps"
	"slices"
)

// bundle is what of the edges between two columns shares one vertical piece: all that
// goes into one item, or all that comes out of one.
type bundle struct {
	// lefts and rights are the rows in which it meets the columns.
	lefts, rights map[int]bool
	// track is the column of its vertical piece in the gap, -1 for a straight line.
	track int
}

func (b *bundle) span() (top, bottom int) {
	rows := append(slices.Collect(maps.Keys(b.lefts)), slices.Collect(maps.Keys(b.rights))...)
	return slices.Min(rows), slices.Max(rows)
}

// gap is the room between two columns.
type gap struct {
	bundles []*bundle
	tracks  int
}

// tries is how often rows are moved so that no line seems to go where it does not.
const tries = 500

// routed decides where the vertical pieces of all edges stand. A bundle whose right end
// is in the row of another one's left end has to stand further right than it. Where
// that goes round in a circle an item is moved down by a row.
func (s *sheet) routed() []gap {
	var gaps []gap
	for range tries {
		gaps = nil
		moved := false
		for column := 0; column+1 < len(s.columns) && !moved; column++ {
			one := gap{bundles: s.bundles(column)}
			stuck, row := one.assign()
			if stuck {
				s.moveDown(column+1, row)
				moved = true
			}
			gaps = append(gaps, one)
		}
		if !moved {
			break
		}
	}
	// What could not be resolved is drawn in the order that there is.
	for column := len(gaps); column+1 < len(s.columns); column++ {
		one := gap{bundles: s.bundles(column)}
		one.assign()
		gaps = append(gaps, one)
	}
	return gaps
}

// moveDown moves what has a line's end in the row down by one, and what is below it.
func (s *sheet) moveDown(column, row int) {
	for _, one := range s.columns[column] {
		if one.top <= row && row < one.top+one.high {
			one.top++
		}
	}
	s.settle()
}

// bundles of the edges that run between a column and the next one.
func (s *sheet) bundles(column int) []*bundle {
	type key struct {
		shares share
		node   int
	}
	shared := map[key]*bundle{}
	var all []*bundle
	for _, way := range s.ways {
		at := column - way.column
		if at < 0 || at+1 >= len(way.stops) {
			continue
		}
		var one *bundle
		k := key{shares: way.shares}
		switch {
		case way.shares == sharesStart && at == 0:
			k.node = way.from
			one = shared[k]
		case way.shares == sharesEnd && at+2 == len(way.stops):
			k.node = way.to
			one = shared[k]
		default:
			k.shares = sharesNothing
		}
		if one == nil {
			one = &bundle{lefts: map[int]bool{}, rights: map[int]bool{}}
			all = append(all, one)
		}
		if k.shares != sharesNothing {
			shared[k] = one
		}
		one.lefts[way.stops[at].right()], one.rights[way.stops[at+1].left()] = true, true
	}
	slices.SortStableFunc(all, func(a, b *bundle) int {
		first, _ := a.span()
		second, _ := b.span()
		return first - second
	})
	return all
}

// assign gives each bundle its track, those first that must stand left of others. Where
// that is not possible it tells a row that is in the way.
func (g *gap) assign() (stuck bool, row int) {
	left := slices.Clone(g.bundles)
	var done []*bundle
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(b *bundle) bool { return len(before(b, left)) == 0 })
		if next < 0 {
			stuck, next = true, 0
			row = before(left[0], left)[0]
		}
		b := left[next]
		left = slices.Delete(left, next, next+1)
		top, bottom := b.span()
		b.track = -1
		if top != bottom {
			b.track = 0
			for _, other := range done {
				if len(before(b, []*bundle{other})) > 0 {
					b.track = max(b.track, other.track+1)
				}
			}
			for slices.ContainsFunc(done, func(other *bundle) bool {
				first, last := other.span()
				return other.track == b.track && first <= bottom && top <= last
			}) {
				b.track++
			}
			g.tracks = max(g.tracks, b.track+1)
		}
		done = append(done, b)
	}
	return stuck, row
}

// before are the rows in which the bundle's right ends meet left ends of others.
func before(b *bundle, others []*bundle) []int {
	var rows []int
	for _, other := range others {
		if other == b {
			continue
		}
		for _, row := range slices.Sorted(maps.Keys(b.rights)) {
			if other.lefts[row] {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// wide is the room that the tracks and the lines to them need.
func (g *gap) wide() int { return max(4, 2*g.tracks+2) }

// draw draws the pieces of a gap that begins at x.
func (g *gap) draw(c *canvas, x int) {
	column := func(track int) int { return x + 1 + 2*track }
	for _, b := range g.bundles {
		if b.track < 0 {
			continue
		}
		top, bottom := b.span()
		for y := top; y <= bottom; y++ {
			if y > top {
				c.connect(column(b.track), y, north)
			}
			if y < bottom {
				c.connect(column(b.track), y, south)
			}
		}
	}
	for _, b := range g.bundles {
		begin, end := x+g.wide(), x+g.wide()
		if b.track >= 0 {
			end, begin = column(b.track), column(b.track)
		}
		for row := range b.lefts {
			g.run(c, x, end-1, row, b, column)
			if b.track >= 0 {
				c.connect(end, row, west)
			}
		}
		for row := range b.rights {
			if b.track >= 0 {
				c.connect(begin, row, east)
				g.run(c, begin+1, x+g.wide()-1, row, b, column)
			}
		}
	}
}

// run is a horizontal line of a bundle, which passes under the others.
func (g *gap) run(c *canvas, from, to, row int, of *bundle, column func(int) int) {
	for x := from; x <= to; x++ {
		crosses := slices.ContainsFunc(g.bundles, func(other *bundle) bool {
			top, bottom := other.span()
			return other != of && other.track >= 0 && column(other.track) == x && top <= row && row <= bottom
		})
		if !crosses {
			c.connect(x, row, east|west)
		}
	}
}

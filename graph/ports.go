package graph

import (
	"cmp"
	"slices"
)

// ends of an edge, as numbers of nodes, from left to right.
type ends struct{ from, to int }

// share is what an edge has in common with others, so that nobody can read an edge into
// the drawing that is not there.
type share int

const (
	// sharesNothing: it has a place of its own at both ends.
	sharesNothing share = iota
	// sharesStart: nothing else runs into its right end, so it begins with others.
	sharesStart
	// sharesEnd: nothing else comes out of its left end, so it ends with others.
	sharesEnd
)

// way of an edge through the columns.
type way struct {
	ends
	shares share
	// column of its first stop.
	column int
	stops  []stop
}

func (g Graph) ends() []ends {
	var all []ends
	for _, edge := range g.Edges {
		all = append(all, ends{g.index(edge.From), g.index(edge.To)})
	}
	return all
}

func shares(all []ends, one ends) share {
	out, in := 0, 0
	for _, other := range all {
		if other.from == one.from {
			out++
		}
		if other.to == one.to {
			in++
		}
	}
	switch {
	case in == 1:
		return sharesStart
	case out == 1:
		return sharesEnd
	}
	return sharesNothing
}

// places is how many lines' ends a node needs room for at the side that has more.
func places(all []ends, node int) int {
	outs, ins := map[int]bool{}, map[int]bool{}
	for i, one := range all {
		shared := shares(all, one)
		if one.from == node {
			outs[port(i, shared == sharesStart)] = true
		}
		if one.to == node {
			ins[port(i, shared == sharesEnd)] = true
		}
	}
	return max(len(outs), len(ins))
}

// port is the same for all that is shared.
func port(edge int, shared bool) int {
	if shared {
		return -1
	}
	return edge
}

// ports gives each end of a line its place at its box, in the order of what is at the
// other end.
func (s *sheet) ports() {
	all := make([]ends, len(s.ways))
	for i, way := range s.ways {
		all[i] = way.ends
	}
	for i := range s.ways {
		s.ways[i].shares = shares(all, s.ways[i].ends)
	}
	for _, column := range s.columns {
		for _, box := range column {
			if box.node < 0 {
				continue
			}
			box.outs = s.side(func(w *way) (int, bool, *stop, *stop) {
				return w.from, w.shares == sharesStart, &w.stops[0], &w.stops[1]
			}, box.node, func(one *stop) *int { return &one.out })
			box.ins = s.side(func(w *way) (int, bool, *stop, *stop) {
				last := len(w.stops) - 1
				return w.to, w.shares == sharesEnd, &w.stops[last], &w.stops[last-1]
			}, box.node, func(one *stop) *int { return &one.in })
			box.high = max(box.high, box.outs+2, box.ins+2)
		}
	}
}

// side gives the lines on one side of a box their places, and tells how many there are.
func (s *sheet) side(end func(*way) (node int, shared bool, here, there *stop), node int, place func(*stop) *int) int {
	type one struct {
		port   int
		wanted float64
		here   *stop
	}
	var found []one
	for i := range s.ways {
		of, shared, here, there := end(&s.ways[i])
		if of == node {
			found = append(found, one{port(i, shared), there.wanted, here})
		}
	}
	// What is shared stands where the first of it would.
	first := map[int]float64{}
	for _, f := range found {
		if was, is := first[f.port]; !is || f.wanted < was {
			first[f.port] = f.wanted
		}
	}
	slices.SortStableFunc(found, func(a, b one) int {
		return cmp.Or(cmp.Compare(first[a.port], first[b.port]), cmp.Compare(a.port, b.port))
	})
	count := 0
	for i, f := range found {
		if i > 0 && f.port != found[i-1].port {
			count++
		}
		*place(f.here) = count
	}
	if len(found) > 0 {
		count++
	}
	return count
}

package graph

import (
	"math"
	"slices"
)

// turn turns each connected part of a layout upside down where that brings more of it
// into the caller's order: the library has no opinion on that. What stands beside
// another part stays.
func (l *layout) turn(g Graph) {
	part := g.parts()
	for of := range part {
		if part[of] == of && l.above(part, of) < 0 {
			top, bottom := l.span(part, of)
			// A frame is around nodes of several parts, so it turns with all of them only.
			alone := len(l.groups) == 0 || !slices.ContainsFunc(part, func(other int) bool { return other != of })
			for i, b := range l.nodes {
				if part[i] != of && b.y+b.height/2 > top && b.y-b.height/2 < bottom {
					alone = false
				}
			}
			if alone {
				l.flip(g, part, of, top+bottom)
			}
		}
	}
}

// parts tells for each node the first node that it is connected with.
func (g Graph) parts() []int {
	part := make([]int, len(g.Nodes))
	for i := range part {
		part[i] = i
	}
	for again := true; again; {
		again = false
		for _, edge := range g.ends() {
			if first := min(part[edge.from], part[edge.to]); part[edge.from] != part[edge.to] {
				part[edge.from], part[edge.to], again = first, first, true
			}
		}
	}
	return part
}

// above tells how many pairs of boxes above each other are in the caller's order, less
// those that are not.
func (l *layout) above(part []int, of int) int {
	count := 0
	for i, a := range l.nodes {
		for j, b := range l.nodes[:i] {
			switch {
			case part[i] != of || part[j] != of || a.x != b.x:
			case b.y < a.y:
				count++
			case b.y > a.y:
				count--
			}
		}
	}
	return count
}

func (l *layout) span(part []int, of int) (top, bottom float64) {
	top, bottom = math.Inf(1), math.Inf(-1)
	for i, b := range l.nodes {
		if part[i] == of {
			top, bottom = min(top, b.y-b.height/2), max(bottom, b.y+b.height/2)
		}
	}
	return top, bottom
}

func (l *layout) flip(g Graph, part []int, of int, sum float64) {
	for i := range l.nodes {
		if part[i] == of {
			l.nodes[i].y = sum - l.nodes[i].y
		}
	}
	for i := range l.groups {
		l.groups[i].y = sum - l.groups[i].y
	}
	for i, edge := range g.ends() {
		if part[edge.from] != of {
			continue
		}
		l.edges[i].label.y = sum - l.edges[i].label.y
		for j := range l.edges[i].points {
			l.edges[i].points[j].Y = sum - l.edges[i].points[j].Y
		}
	}
}

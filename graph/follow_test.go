package graph

import "strings"

// follow reads a drawing as a person does: from each box to the right, along the lines,
// to the boxes that they end at. A │ between two blanks or lines is passed under.
func follow(text string) map[string]bool {
	var rows [][]rune
	for line := range strings.Lines(text) {
		rows = append(rows, []rune(strings.TrimSuffix(line, "\n")))
	}
	r := reader{rows: rows, boxes: map[[2]int]string{}}
	r.findBoxes()
	found := map[string]bool{}
	for y := range rows {
		for x, letter := range rows[y] {
			if name := r.boxes[[2]int{x, y}]; name != "" && letter == '├' {
				r.seen = map[[3]int]bool{}
				r.walk(x+1, y, east, func(to string) { found[name+to] = true })
			}
		}
	}
	return found
}

type reader struct {
	rows  [][]rune
	boxes map[[2]int]string // the box that has this cell
	seen  map[[3]int]bool
}

func (r *reader) at(x, y int) rune {
	if y < 0 || y >= len(r.rows) || x < 0 || x >= len(r.rows[y]) {
		return ' '
	}
	return r.rows[y][x]
}

// findBoxes: a ┌ with a letter inside is the corner of a box.
func (r *reader) findBoxes() {
	for y := range r.rows {
		for x, letter := range r.rows[y] {
			name := r.at(x+2, y+1)
			if letter != '┌' || name < 'A' || name > 'Z' {
				continue
			}
			wide, high := 1, 1
			for r.at(x+wide, y) != '┐' {
				wide++
			}
			for r.at(x, y+high) != '└' {
				high++
			}
			for row := range high + 1 {
				for column := range wide + 1 {
					r.boxes[[2]int{x + column, y + row}] = string(name)
				}
			}
		}
	}
}

func ways(letter rune) int {
	for i, one := range []rune(" ╵╶└╷│┌├╴┘─┴┐┤┬┼") {
		if one == letter {
			return i
		}
	}
	return 0
}

// walk goes on from a cell that it entered going that way.
func (r *reader) walk(x, y, way int, arrive func(string)) {
	if r.seen[[3]int{x, y, way}] {
		return
	}
	r.seen[[3]int{x, y, way}] = true
	letter := r.at(x, y)
	if name := r.boxes[[2]int{x, y}]; name != "" {
		if letter == '┤' && way == east {
			arrive(name)
		}
		return
	}
	steps := map[int][2]int{north: {0, -1}, south: {0, 1}, east: {1, 0}, west: {-1, 0}}
	back := map[int]int{north: south, south: north, east: west, west: east}
	on := ways(letter)
	if on&back[way] == 0 && on != 0 { // It is passed under.
		on = way
	}
	for next, step := range steps {
		// Nobody goes back to where lines come from.
		if on&next != 0 && next != back[way] && next != west {
			r.walk(x+step[0], y+step[1], next, arrive)
		}
	}
}

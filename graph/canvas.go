package graph

// Ways that a line leaves a cell.
const (
	north = 1 << iota
	east
	south
	west
)

// cell of a canvas: a letter, or a line by the ways it goes.
type cell struct {
	letter rune
	ways   int
	tone   Tone
}

// canvas of characters; it grows as it is drawn on.
type canvas struct {
	rows [][]cell
}

func (c *canvas) at(x, y int) *cell {
	for len(c.rows) <= y {
		c.rows = append(c.rows, nil)
	}
	for len(c.rows[y]) <= x {
		c.rows[y] = append(c.rows[y], cell{})
	}
	return &c.rows[y][x]
}

func (c cell) blank() bool { return c.rune() == ' ' }

func (c cell) rune() rune {
	if c.letter != 0 {
		return c.letter
	}
	// By the bits of north, east, south, west.
	return []rune(" ╵╶└╷│┌├╴┘─┴┐┤┬┼")[c.ways]
}

// across is a horizontal line; it does nothing where it ends before it begins.
func (c *canvas) across(from, to, y int) {
	for x := from; x <= to; x++ {
		c.at(x, y).ways |= east | west
	}
}

func (c *canvas) connect(x, y, way int) { c.at(x, y).ways |= way }

// box with its text, which has room for all of it.
func (c *canvas) box(x, y, wide, high int, texts []string, tone Tone) {
	for column := 1; column < wide-1; column++ {
		c.connect(x+column, y, east|west)
		c.connect(x+column, y+high-1, east|west)
	}
	c.connect(x, y, east|south)
	c.connect(x+wide-1, y, west|south)
	c.connect(x, y+high-1, east|north)
	c.connect(x+wide-1, y+high-1, west|north)
	for row := 1; row < high-1; row++ {
		c.connect(x, y+row, north|south)
		c.connect(x+wide-1, y+row, north|south)
	}
	for row, text := range texts {
		column := 0
		for _, letter := range text {
			c.at(x+2+column, y+1+row).letter = letter
			column++
		}
	}
	for row := range high {
		for column := range wide {
			c.at(x+column, y+row).tone = tone
		}
	}
}

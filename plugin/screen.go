package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// screen draws lines over those that it drew before.
type screen struct {
	out   io.Writer
	size  func() (width, height int)
	drawn int
	last  string
}

// draw leaves a picture alone that has not changed. What the terminal has no room for
// is left out, since what is scrolled away cannot be drawn over.
func (s *screen) draw(lines []string) {
	width, height := s.size()
	if height > 2 && len(lines) > height-1 {
		left := len(lines) - (height - 2)
		lines = append(lines[:height-2:height-2], fmt.Sprintf("and %d more lines", left))
	}
	var picture strings.Builder
	for _, line := range lines {
		picture.WriteString(cut(line, width) + "\n")
	}
	if picture.String() == s.last {
		return
	}
	erase := ""
	if s.drawn > 0 {
		erase = fmt.Sprintf("\x1b[%dA\x1b[J", s.drawn)
	}
	fmt.Fprint(s.out, erase+picture.String())
	s.drawn, s.last = len(lines), picture.String()
}

// cut shortens a line to the width. What colours it takes no room.
func cut(line string, width int) string {
	if width <= 0 || utf8.RuneCountInString(line) <= width {
		return line
	}
	var kept strings.Builder
	room, escape, coloured := width-1, false, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape, coloured = true, true
		case escape:
			escape = r != 'm'
		case room == 0:
			kept.WriteString("…")
			if coloured {
				kept.WriteString("\x1b[0m")
			}
			return kept.String()
		default:
			room--
		}
		kept.WriteRune(r)
	}
	return kept.String()
}

package trace

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Options of a Writer.
type Options struct {
	// Colour marks the kinds; for terminals.
	Colour bool
	// Nodes and Kinds are those that are shown; empty shows all. Lines that are
	// nobody's are shown whatever the nodes are. The kind "call" stands for all
	// port calls.
	Nodes, Kinds []string
	// Width in characters at which texts are cut; zero cuts nothing.
	Width int
}

// Writer writes lines in columns. Its Line is for World.Sink.
type Writer struct {
	out     io.Writer
	options Options
	err     error
}

// NewWriter writes to out, which should be buffered.
func NewWriter(out io.Writer, options Options) *Writer { return &Writer{out: out, options: options} }

// Terminal tells whether a person looks at the file.
func Terminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Widths of the columns in characters.
const (
	whoWidth  = 16
	kindWidth = 9
)

// Line writes one, unless it is filtered out.
func (w *Writer) Line(l world.Line) {
	if w.err != nil || !w.shows(l) {
		return
	}
	kind := fmt.Sprintf("%-*s", kindWidth, l.What)
	if colour := colours[l.What]; w.options.Colour && colour != "" {
		kind = "\x1b[" + colour + "m" + kind + "\x1b[0m"
	}
	text := oneLine(l.Text)
	if room := w.options.Width - len(instant(l.At)) - whoWidth - kindWidth - 3; w.options.Width > 0 && len(text) > max(room, 20) {
		text = strings.ToValidUTF8(text[:max(room, 20)-1], "") + "…"
	}
	_, w.err = fmt.Fprintf(w.out, "%s %-*s %s %s\n", instant(l.At), whoWidth, l.Who, kind, text)
}

// Err is the first error of writing.
func (w *Writer) Err() error { return w.err }

// colours by kind, as terminals number them.
var colours = map[string]string{
	Fault: "35", Killed: "35", Start: "36", Host: "36", Error: "31", Reach: "33",
	Policy: "34", Leader: "34", Phase: "1", Step: "1", Violation: "1;31", Fail: "1;31",
}

func (w *Writer) shows(l world.Line) bool {
	if kinds := w.options.Kinds; len(kinds) > 0 && !slices.Contains(kinds, l.What) &&
		(!slices.Contains(kinds, call) || !slices.Contains(ports, l.What)) {
		return false
	}
	if len(w.options.Nodes) == 0 || l.Who == "" {
		return true
	}
	return slices.ContainsFunc(words(l.Who), func(word string) bool { return slices.Contains(w.options.Nodes, word) })
}

// words of the name of a process: "n1/handler" and "handler n1" have n1.
func words(who string) []string {
	return strings.FieldsFunc(who, func(r rune) bool { return strings.ContainsRune("/ @:", r) })
}

// instant is a time since the start of the run: minutes, seconds, milliseconds.
func instant(at time.Duration) string {
	return fmt.Sprintf("%4d:%06.3f", at/time.Minute, (at % time.Minute).Seconds())
}

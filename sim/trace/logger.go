package trace

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-logr/logr"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Logger makes lines of what production code of a process logs. What a dead
// process still says while it unwinds is dropped.
func Logger(p *world.Process) logr.Logger { return logr.New(sink{process: p}) }

// sink is a logr.LogSink. Values have the order in which they were given.
type sink struct {
	process *world.Process
	name    string
	values  string // rendered, each after a blank
}

// Init has nothing to do: lines do not tell their place in the source.
func (s sink) Init(logr.RuntimeInfo) {}

// Enabled tells that lines of higher verbosity are worth making.
func (s sink) Enabled(level int) bool {
	return !s.process.Dead() && (level == 0 || s.process.World().Sink != nil)
}

// Info writes a line, into the hash too unless it is of higher verbosity.
func (s sink) Info(level int, message string, values ...any) {
	text := s.text(message, values)
	w := s.process.World()
	if level > 0 {
		w.Sink(world.Line{At: w.Elapsed(), Who: s.process.Name, What: Log, Text: text})
		return
	}
	w.Trace(s.process.Name, Log, text)
}

// Error writes a line with the error at its end.
func (s sink) Error(err error, message string, values ...any) {
	if s.process.Dead() {
		return
	}
	text := s.text(message, values)
	if err != nil {
		text += ": " + oneLine(err.Error())
	}
	s.process.World().Trace(s.process.Name, Error, text)
}

// WithValues is a sink whose lines all have the values.
func (s sink) WithValues(values ...any) logr.LogSink {
	s.values += pairs(values)
	return s
}

// WithName is a sink whose lines begin with the name.
func (s sink) WithName(name string) logr.LogSink {
	s.name += name + ": "
	return s
}

func (s sink) text(message string, values []any) string {
	return s.name + oneLine(message) + s.values + pairs(values)
}

func pairs(values []any) string {
	var text strings.Builder
	for i := 0; i+1 < len(values); i += 2 {
		text.WriteByte(' ')
		_, _ = fmt.Fprint(&text, values[i])
		text.WriteByte('=')
		text.WriteString(quoted(rendered(values[i+1])))
	}
	return text.String()
}

// rendered is the same for the same value: no addresses, maps in order.
func rendered(value any) string {
	switch value := value.(type) {
	case nil:
		return "none"
	case string:
		return value
	case logr.Marshaler:
		return rendered(value.MarshalLog())
	case error, fmt.Stringer, int, int32, int64, uint64, bool, float64:
		return fmt.Sprint(value)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("(a %T that cannot be shown)", value)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text // A named string.
	}
	return string(raw)
}

// quoted is the value so that Fields finds its end.
func quoted(value string) string {
	if value == "" || strings.ContainsAny(value, " \"=\n\t") {
		return strconv.Quote(value)
	}
	return value
}

func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }

// Fields takes a text apart into its words and its values by key.
func Fields(text string) (words string, values map[string]string) {
	values = map[string]string{}
	for rest := text; rest != ""; {
		part, after := first(rest)
		key, value, is := strings.Cut(part, "=")
		if is && key != "" && !strings.ContainsAny(key, `" `) {
			if plain, err := strconv.Unquote(value); err == nil {
				value = plain
			}
			values[key] = value
		} else {
			words = strings.TrimSpace(words + " " + part)
		}
		rest = after
	}
	return words, values
}

// first cuts the text at its first blank that is not inside of quotes.
func first(text string) (part, rest string) {
	inside := false
	for i := 0; i < len(text); i++ {
		switch {
		case inside && text[i] == '\\':
			i++
		case text[i] == '"' && (inside || i > 0 && text[i-1] == '='):
			inside = !inside
		case text[i] == ' ' && !inside:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

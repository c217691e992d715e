package trace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

type named string

func TestWhatProductionLogsIsALine(t *testing.T) {
	run := func(heard bool) ([]string, uint64) {
		w := world.New(1)
		var lines []string
		if heard {
			w.Sink = func(l world.Line) { lines = append(lines, l.Who+" "+l.What+" "+l.Text) }
		}
		p := w.Process("n1/handler")
		log := trace.Logger(p).WithValues("node", "n1")
		log.Info("transaction", "phase", named("Applying"), "cause", "", "map", map[string]int{"b": 2, "a": 1}, "nothing", nil)
		log.V(1).Info("decided", "generation", 3)
		log.WithName("rollout").Error(errors.New("a\nb"), "cannot write", "after", time.Second)
		p.Kill()
		log.Info("never")
		log.Error(nil, "never")
		return lines, w.Hash()
	}
	got, hash := run(true)
	want := []string{
		`n1/handler log transaction node=n1 phase=Applying cause="" map="{\"a\":1,\"b\":2}" nothing=none`,
		`n1/handler log decided node=n1 generation=3`,
		`n1/handler error rollout: cannot write node=n1 after=1s: a b`,
		`n1/handler killed `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, silent := run(false); silent != hash {
		t.Error("the hash depends on whether somebody listens")
	}
}

func TestFields(t *testing.T) {
	tests := map[string]struct {
		text, words string
		values      map[string]string
	}{
		"words only":            {"create p1", "create p1", map[string]string{}},
		"values are unquoted":   {`done a=1 b="x y=\"z\"" c=""`, "done", map[string]string{"a": "1", "b": `x y="z"`, "c": ""}},
		"words after the value": {"a=1 done", "done", map[string]string{"a": "1"}},
		"quotes in words":       {`key "a b" is not known`, `key "a b" is not known`, map[string]string{}},
		"nothing":               {"", "", map[string]string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			words, values := trace.Fields(test.text)
			if words != test.words || !cmp.Equal(test.values, values) {
				t.Errorf("got %q, %q", words, values)
			}
		})
	}
}

func TestWriter(t *testing.T) {
	lines := []world.Line{
		{At: 0, What: trace.Policy, Text: "create p1"},
		{At: 61500 * time.Millisecond, Who: "n1/handler", What: "api", Text: "patch nns/n1 status"},
		{At: 90 * time.Minute, Who: "n2", What: trace.Fault, Text: "begin carrier: eth1"},
	}
	tests := map[string]struct {
		options trace.Options
		want    string
	}{
		"all lines in columns": {trace.Options{}, `
   0:00.000                  policy    create p1
   1:01.500 n1/handler       api       patch nns/n1 status
  90:00.000 n2               fault     begin carrier: eth1
`},
		"one node's, and what is nobody's": {trace.Options{Nodes: []string{"n1"}}, `
   0:00.000                  policy    create p1
   1:01.500 n1/handler       api       patch nns/n1 status
`},
		"port calls and faults": {trace.Options{Kinds: []string{"call", "fault"}}, `
   1:01.500 n1/handler       api       patch nns/n1 status
  90:00.000 n2               fault     begin carrier: eth1
`},
		"colours": {trace.Options{Colour: true, Kinds: []string{"fault"}}, "\n" +
			"  90:00.000 n2               \x1b[35mfault    \x1b[0m begin carrier: eth1\n"},
		"cut to the width of a terminal": {trace.Options{Width: 50, Kinds: []string{"fault", "api"}, Nodes: []string{"n1"}}, `
   1:01.500 n1/handler       api       patch nns/n1 status
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			writer := trace.NewWriter(&out, test.options)
			for _, line := range lines {
				writer.Line(line)
			}
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

package trace_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/trace"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// recorded reads lines as "SECONDS|who|what|text" and returns the record after
// 100 seconds, a line for each thing.
func recorded(lines ...string) string {
	r := trace.NewRecorder("n1", "n2")
	for _, line := range lines {
		parts := strings.SplitN(line, "|", 4)
		var seconds int
		_, _ = fmt.Sscan(parts[0], &seconds)
		r.Line(world.Line{At: time.Duration(seconds) * time.Second, Who: parts[1], What: parts[2], Text: parts[3]})
	}
	record := r.Record(100 * time.Second)
	var out []string
	note := func(row *trace.Row, kind string, s *trace.Span, more string) {
		open := ""
		if s.Open {
			open = " open"
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %d-%d%s %s", row.Name, kind, s.Name, int(s.Begin.Seconds()), int(s.End.Seconds()), open, more)))
	}
	for _, row := range record.Rows {
		for _, s := range row.Lives {
			note(row, "life", s, s.Text)
		}
		for _, t := range row.Transactions {
			var phases []string
			for _, p := range t.Phases {
				phases = append(phases, fmt.Sprintf("%s:%d", p.Name, int((p.End-p.Begin).Seconds())))
			}
			note(row, "transaction", &t.Span, fmt.Sprintf("%s/%s/%s drift=%t %s (%s)", t.Policy, t.Generation, t.Result, t.Drift, strings.Join(phases, " "), t.Text))
		}
		for _, s := range row.Faults {
			note(row, "fault", s, s.Text)
		}
		for _, s := range row.Cuts {
			note(row, "cut", s, s.Text)
		}
		for _, m := range row.Marks {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s mark %d %s %s", row.Name, int(m.At.Seconds()), m.What, m.Text)))
		}
	}
	for _, v := range record.Violations {
		out = append(out, "violation "+v.Text)
	}
	return strings.Join(out, "\n")
}

func TestRecord(t *testing.T) {
	const arming = "1|handler/n1|log|transaction phase=Arming from=Idle generation=3 policy=p1"
	tests := map[string]struct {
		lines []string
		want  string
	}{
		"a transaction with its phases and its result": {
			lines: []string{
				arming,
				`2|handler/n1|log|transaction phase=Applying from=Arming generation=3 policy=p1 cause=""`,
				"5|handler/n1|log|transaction phase=Probing from=Applying generation=3 policy=p1",
				"9|handler/n1|log|transaction phase=Idle from=Committing generation=3 policy=p1",
				`9|handler/n1|log|transaction ended result=Committed generation=3 policy=p1 message="all is well"`,
			},
			want: `
n1 life handler/n1 1-100 open
n1 transaction  1-9 p1/3/Committed drift=false Arming:1 Applying:3 Probing:4 (all is well)`,
		},
		"a transaction whose handler dies goes on with the next one": {
			lines: []string{
				"0|handler/n1|start|", arming,
				"2|handler/n1|log|transaction phase=Applying from=Arming generation=3 policy=p1",
				"4|handler/n1|killed|",
				"6|handler/n1|start|after a crash",
				"7|handler/n1|log|transaction phase=RollingBack from=Idle generation=3 policy=p1 cause=restart",
			},
			want: `
n1 life handler/n1 0-4
n1 life handler/n1 6-100 open after a crash
n1 transaction  1-100 open p1/3/ drift=false Arming:1 Applying:2 Down:3 RollingBack:93 (restart)
n1 mark 4 killed`,
		},
		"a transaction that the journal never knew ends with its process": {
			lines: []string{
				arming, "2|handler/n1|killed|", "3|handler/n1|log|transaction phase=Arming from= generation=3 policy=p1",
			},
			want: `
n1 life handler/n1 1-2
n1 life handler/n1 3-100 open
n1 transaction  1-3 p1/3/ drift=false Arming:1 Down:1 ()
n1 transaction  3-100 open p1/3/ drift=false Arming:97 ()
n1 mark 2 killed`,
		},
		"a correction of drift": {
			lines: []string{"1|handler/n2|log|correcting drift of=[]", "1|handler/n2|log|transaction phase=Arming from=Idle generation=3"},
			want: `
n2 life handler/n2 1-100 open
n2 transaction  1-100 open /3/ drift=true Arming:99 ()`,
		},
		"faults that last, that are instants, that never end": {
			lines: []string{
				"1|n1|fault|begin carrier#1: at 1s", "2|n1|fault|begin carrier#2", "3|n1|fault|end carrier#1",
				"4||fault|begin partition#3", "5|n1|fault|reboot#4: at 5s", "6|n1|fault|end unknown",
			},
			want: `
cluster fault partition#3 4-100 open
n1 fault carrier#1 1-3 at 1s
n1 fault carrier#2 2-100 open
n1 mark 5 fault reboot#4: at 5s`,
		},
		"what is out of reach": {
			lines: []string{"1|n1|reach|gateway ok", "2|n1|reach|dns cut: no route: none", "3|n1|reach|dns cut", "8|n1|reach|dns ok", "9|n2|reach|api cut"},
			want: `
n1 cut dns 2-8 no route: none
n2 cut api 9-100 open`,
		},
		"who is no node's has a row": {
			lines: []string{
				"1|controllers-0|start|", "1|controllers-0|leader|elected", "2||policy|create p1", "3|n3|node|added", "4|handler/n3|api|get x",
				"5|handler/n3|event|Created", "6|n2|checkpoint|1 committed", "6|n2|checkpoint|2 expired", "6|n2|host|NetworkManager stopped", "6|n2|violation|slots: too many", "7||fail|at 7s: slots",
			},
			want: `
cluster mark 2 policy create p1
controllers life controllers-0 1-100 open
controllers mark 1 leader elected
n2 mark 6 checkpoint 2 expired
n2 mark 6 host NetworkManager stopped
n3 life handler/n3 4-100 open
n3 mark 3 node added
violation slots: too many
violation at 7s: slots`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), recorded(test.lines...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALongRunKeepsItsEnd(t *testing.T) {
	r := trace.NewRecorder("n1")
	const lines = 100_000
	for i := range lines {
		r.Line(world.Line{At: time.Duration(i) * time.Millisecond, Who: "handler/n1", What: "api", Text: "get"})
		r.Line(world.Line{At: time.Duration(i) * time.Millisecond, Who: "n1", What: trace.Fault, Text: "now"})
	}
	record := r.Record(lines * time.Millisecond)
	row := record.Rows[len(record.Rows)-1]
	if kept := len(row.Lines); kept > lines || kept+record.Dropped != 2*lines {
		t.Errorf("%d lines are kept, %d are not", kept, record.Dropped)
	}
	if len(row.Marks)+row.Dropped != lines || len(row.Marks) > 2000 {
		t.Errorf("%d marks are kept, %d are not", len(row.Marks), row.Dropped)
	}
}

// event is one of a Chrome trace, as far as the format asks for its fields.
type event struct {
	Ph, Name, S string
	Pid, Tid    *int
	At          *int64 `json:"ts"`
	Dur         *int64
	Args        map[string]any
}

// chrome writes the record of a run and reads it again.
func chrome(t *testing.T, record *trace.Record) []event {
	t.Helper()
	var file bytes.Buffer
	if err := record.Chrome(&file); err != nil {
		t.Fatal(err)
	}
	var read struct {
		OtherData   map[string]string
		TraceEvents []event
	}
	if err := json.Unmarshal(file.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if want := "go run ./sim -seed 7"; read.OtherData["replay"] != want {
		t.Errorf("the command that runs it again is %q, want %q", read.OtherData["replay"], want)
	}
	return read.TraceEvents
}

func TestTheTimelineIsAChromeTrace(t *testing.T) {
	r := trace.NewRecorder("n1")
	for i, line := range []string{
		"n1/handler|start|", "n1/handler|log|transaction phase=Baseline from=Idle policy=p1 generation=2", "n1|fault|begin carrier: eth0", "n1|reach|api cut: no carrier",
		"n1|violation|reach: cut off", "n1|fault|end carrier", "n1|reach|api ok",
		`n1/handler|log|transaction phase=Applying from=Baseline`, `n1/handler|log|transaction phase=Idle from=Applying`, `n1/handler|log|"transaction ended" result=Committed`,
	} {
		parts := strings.SplitN(line, "|", 3)
		r.Line(world.Line{At: time.Duration(i) * time.Second, Who: parts[0], What: parts[1], Text: parts[2]})
	}
	record := r.Record(20 * time.Second)
	record.Replay = "go run ./sim -seed 7"
	names, got := map[[2]int]string{}, []string(nil)
	for _, e := range chrome(t, record) {
		at := [2]int{*e.Pid, *e.Tid}
		switch e.Ph {
		case "M":
			if name, is := e.Args["name"].(string); is {
				names[at] = name
			}
		case "X":
			got = append(got, fmt.Sprintf("%s, %s: %s %d+%d", names[[2]int{*e.Pid, 0}], names[at], e.Name, *e.At/1e6, *e.Dur/1e6))
		case "i":
			if e.S == "g" {
				got = append(got, fmt.Sprintf("all: %s %d", e.Name, *e.At/1e6))
			}
		}
	}
	if diff := cmp.Diff([]string{
		"n1, fault carrier: carrier 2+3", "n1, transactions: p1 1+7", "n1, transactions: Baseline 1+6", "n1, transactions: Applying 7+1",
		"n1, n1/handler: alive 0+20", "n1, no way to api: cut 3+3", "all: VIOLATION reach: cut off 4",
	}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSamplerTellsChangesAndLeavesTheHash(t *testing.T) {
	run := func(heard bool) ([]string, uint64) {
		w := world.New(1)
		var lines []string
		if heard {
			w.Sink = func(l world.Line) { lines = append(lines, fmt.Sprint(l.At, " ", l.Who, " ", l.Text)) }
		}
		var cut error
		w.AfterStep = trace.NewSampler(w, func() []string { return []string{"n1"} }, func(_, target string) error {
			if target == trace.API {
				return cut
			}
			return nil
		}).Step
		for at := range 5 {
			w.After(time.Duration(at)*time.Second, func() {
				if cut = nil; at == 2 || at == 3 {
					cut = errors.New("no route")
				}
			})
		}
		if err := w.RunFor(time.Minute); err != nil {
			t.Fatal(err)
		}
		return lines, w.Hash()
	}
	got, hash := run(true)
	if diff := cmp.Diff([]string{"2s n1 api cut: no route", "4s n1 api ok"}, got); diff != "" {
		t.Error(diff)
	}
	if _, silent := run(false); silent != hash {
		t.Error("the hash depends on whether somebody listens")
	}
}

package idle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// A transcript is a list of situations, each followed by what a turn does then: one
// indented line for each action, as long as every action succeeds.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("found %d transcripts (%v), want at least 5", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for line := range strings.SplitSeq(strings.TrimRight(string(raw), "\n"), "\n") {
				if strings.HasPrefix(line, "  ") {
					continue
				}
				fmt.Fprintln(&out, line)
				if line != "" && line[0] != '#' {
					turn(t, &out, parse(t, line))
				}
			}
			golden.Assert(t, out.String(), filepath.Base(file))
		})
	}
}

// turn takes the actions of a turn until it is over, or a transaction runs.
func turn(t *testing.T, out *strings.Builder, s Situation) {
	t.Helper()
	for range 10 {
		action, stage := Decide(s)
		fmt.Fprintf(out, "  %s\n", show(action, s.Now))
		s.Stage = stage
		switch action := action.(type) {
		case Create, TellSetAside, Rest, Begin:
			return
		case Forget:
			s.Past.Failed = nil
		case Repeat:
			s.Past.Last = &action.Last
		case Adopt:
			s.Past.Committed.Sources, s.Past.Last = s.Wanted.Sources, &action.Last
		case Pause:
			s.Wait = action.For
		}
	}
	t.Fatalf("the turn does not end: %s", out)
}

func show(action Action, now time.Time) string {
	after := func(what string, wait time.Duration) string {
		if wait == 0 {
			return what
		}
		return fmt.Sprintf("%s for %s", what, wait)
	}
	told := func(last v1.Transaction) string {
		line := fmt.Sprintf("generation %d %s", last.Generation, last.Result)
		if last.Policy != "" {
			line += " policy " + last.Policy
		}
		if last.RetryAfter != nil {
			line += fmt.Sprintf(", again after %s", last.RetryAfter.Sub(now))
		}
		return line
	}
	switch action := action.(type) {
	case TellSetAside:
		return after("tell that it is set aside, rest", action.After)
	case Repeat:
		return "repeat the outcome: " + told(action.Last)
	case Adopt:
		return "adopt the sources: " + told(action.Last)
	case Pause:
		line := after("begin nothing", action.For)
		if action.Last != nil {
			line += ": " + told(*action.Last)
		}
		return line
	case Rest:
		return after("rest", action.For)
	}
	return map[Action]string{
		Create{}: "create the NodeNetworkState", TellOutcome{}: "tell the outcome", Forget{}: "forget what failed",
		Begin{}: "begin", Report{}: "report", Correct{}: "correct drift",
	}[action]
}

// parse reads a situation: what there is, then words. GENERATION:HASH[/POLICY=HASH...] is a
// desired state with its sources; of one that failed, the first policy is the one that
// it is charged to.
func parse(t *testing.T, line string) Situation {
	t.Helper()
	s := Situation{Closed: true, Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Node: "node1"}
	words := strings.Fields(line)
	kind, is := map[string]Object{"none": Missing, "set-aside": SetAside, "managed": Managed}[words[0]]
	if !is {
		t.Fatalf("no object: %q", line)
	}
	s.Object = kind
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "unclosed":
			s.Closed = false
		case "untold":
			s.Untold = true
		case "ending":
			s.Ending = true
		case "nothing":
			s.Wanted.Nothing = true
		case "named":
			s.Wanted.Policy = value
		case "wanted":
			s.Wanted.Change, s.Wanted.Sources = parseDesired(t, value)
		case "window":
			s.Wanted.Change.Window = parseWait(t, value)
		case "committed":
			change, sources := parseDesired(t, value)
			s.Past.Committed = &Committed{Hash: change.Hash, Sources: sources}
		case "last":
			last := parseOutcome(t, value, s.Now)
			s.Past.Last = &last
		case "failed":
			desired, outcome, _ := strings.Cut(value, ",")
			change, sources := parseDesired(t, desired)
			last := parseOutcome(t, fmt.Sprintf("%d,%s", change.Generation, outcome), s.Now)
			if last.Sources = v1.PlainSources(sources); len(sources) > 0 {
				last.Policy = sources[0].Policy
			}
			s.Past.Failed = &Failed{Change: change, Last: last}
		default:
			t.Fatalf("unknown word %q", word)
		}
	}
	return s
}

func parseDesired(t *testing.T, text string) (change txn.Change, sources []v1.DesiredSource) {
	t.Helper()
	parts := strings.Split(text, "/")
	if _, err := fmt.Sscanf(strings.Replace(parts[0], ":", " ", 1), "%d %s", &change.Generation, &change.Hash); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	for _, part := range parts[1:] {
		policy, hash, _ := strings.Cut(part, "=")
		sources = append(sources, v1.DesiredSource{Source: v1.Source{Policy: policy, Generation: 1, Hash: hash}})
	}
	return change, sources
}

// parseOutcome reads GENERATION,RESULT[,ATTEMPTS,WAIT].
func parseOutcome(t *testing.T, text string, now time.Time) v1.Transaction {
	t.Helper()
	parts := strings.Split(text, ",")
	last := v1.Transaction{Result: v1.TransactionResult(parts[1])}
	if _, err := fmt.Sscan(parts[0], &last.Generation); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(parts) > 3 {
		if _, err := fmt.Sscan(parts[2], &last.Attempts); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		last.RetryAfter = InSeconds(now.Add(parseWait(t, parts[3])))
	}
	return last
}

func parseWait(t *testing.T, text string) time.Duration {
	t.Helper()
	wait, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return wait
}

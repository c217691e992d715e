package txn

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/golden"
)

// A transcript is a list of events, each followed by an indented line that
// says where the transaction stands then and what is to be done.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d transcripts (%v), want at least 10", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			golden.Assert(t, replay(t, string(raw)), filepath.Base(file))
		})
	}
}

func replay(t *testing.T, transcript string) string {
	t.Helper()
	var out strings.Builder
	s := State{Phase: Idle}
	for line := range strings.SplitSeq(strings.TrimRight(transcript, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "  "):
			continue
		case line == "" || strings.HasPrefix(line, "#"):
			fmt.Fprintln(&out, line)
			continue
		}
		var effects []Effect
		s, effects = Step(s, parse(t, line))
		fmt.Fprintf(&out, "%s\n  %s%s\n", line, s.Phase, show(effects))
	}
	return out.String()
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// plain are the events that say nothing but that they happened.
var plain = map[string]Event{
	"armed": Armed{}, "confirmed": Confirmed{}, "committed": Committed{}, "rolled-back": RolledBack{}, "seen": Seen{},
	"restored": Restored{}, "reverted": Reverted{}, "networkmanager-restarted": CheckpointLost{},
}

// parse reads an event: its name, then its arguments, in which _ stands for a
// space and +5s for a time.
func parse(t *testing.T, line string) Event {
	t.Helper()
	words := strings.Fields(line)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "_", " ")
	}
	arg := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	at := func(n int) time.Time { return parseTime(t, arg(n)) }
	has := func(word string) bool { return strings.Contains(line+" ", " "+word+" ") }
	if event, is := plain[words[0]]; is {
		return event
	}
	switch words[0] {
	case "wanted":
		return Wanted{parseChange(t, words[1:])}
	case "unwanted":
		return Unwanted{arg(1)}
	case "baseline":
		return BaselineMeasured{Passed: words[1:]}
	case "silent":
		return BaselineMeasured{Silent: words[1:]}
	case "silent-now": // What has answered before.
		return BaselineMeasured{Silent: words[1:], Answered: true}
	case "not-armed":
		return NotArmed{Cause{Message: arg(1), Final: has("final"), Superseded: has("superseded")}}
	case "checkpoint":
		return CheckpointMade{arg(1)}
	case "applied":
		return Applied{arg(1), at(2)}
	case "apply-failed":
		return ApplyFailed{Message: arg(1), Refused: has("refused")}
	case "passed":
		return ProbePassed{arg(1), at(2)}
	case "lost":
		return ProbeLost{arg(1), arg(2), at(3)}
	case "tick":
		return Tick{at(1)}
	case "commit-failed":
		return CommitFailed{arg(1), has("gone")}
	case "rollback-failed":
		return RollbackFailed{Message: arg(1), Gone: has("gone"), Hindrance: Hindrance{Unavailable: has("unavailable"), Cut: has("cut"), At: at(2)}}
	case "restore-failed":
		return RestoreFailed{Message: arg(1), Hindrance: Hindrance{Unavailable: has("unavailable"), Cut: has("cut"), At: at(2)}}
	case "revert-failed":
		return RevertFailed{Message: arg(1), Hindrance: Hindrance{Unavailable: has("unavailable"), Cut: has("cut"), At: at(2)}}
	case "settled":
		return parseSettled(words[1:], at)
	case "recovered":
		var cause *Cause
		if has("failed") {
			cause = &Cause{Message: "committing: no space"}
		}
		return Recovered{Journal: State{Cause: cause, Phase: Phase(arg(1)), Change: Change{Generation: 7, Policy: "p", Interrupted: strings.Count(line, " again")},
			Checkpoint: "/1", Guards: []string{"dns"}, Lost: has("lost"), Restored: has("begun"), LastResort: has("left"), Proven: has("proven")}, Alive: has("alive"), Forgotten: has("forgotten")}
	}
	t.Fatalf("unknown event %q", line)
	return nil
}

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return start
	}
	d, err := time.ParseDuration(strings.TrimPrefix(text, "+"))
	if err != nil {
		t.Fatal(err)
	}
	return start.Add(d)
}

// parseChange reads a policy, its probes as probe=NAME/TIMEOUT, confirm=TIME
// and drop.
func parseChange(t *testing.T, words []string) Change {
	t.Helper()
	duration := func(text string) time.Duration {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	change := Change{Generation: 7, Hash: "h", Policy: words[0], Window: time.Minute}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "probe":
			end := strings.LastIndex(value, "/")
			change.Probes = append(change.Probes, Guard{Name: value[:end], Timeout: duration(value[end+1:])})
		case "confirm":
			change.Confirm = duration(value)
		case "drop":
			change.DropDefaults = true
		case "again":
			change.Interrupted++
		default:
			t.Fatalf("unknown word %q", word)
		}
	}
	return change
}

// parseSettled reads differences, missing:WHAT and foreign:WHAT; a last word "cut",
// after a time, is Hindrance.
func parseSettled(words []string, at func(int) time.Time) Event {
	var settled Settled
	if n := len(words); n > 1 && words[n-1] == "cut" {
		settled.Hindrance = Hindrance{Cut: true, At: at(n - 1)}
		words = words[:n-2]
	}
	for _, word := range words {
		kind, what, _ := strings.Cut(word, ":")
		switch kind {
		case "missing":
			settled.Missing = append(settled.Missing, what)
		case "foreign":
			settled.Foreign = append(settled.Foreign, what)
		default:
			settled.Differences = append(settled.Differences, what)
		}
	}
	return settled
}

// listed separates names by a comma where one of them has a space.
func listed(names []string) string {
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, " ") }) {
		return strings.Join(names, ", ")
	}
	return strings.Join(names, " ")
}

func show(effects []Effect) string {
	var out strings.Builder
	for _, effect := range effects {
		switch effect := effect.(type) {
		case Probe:
			fmt.Fprintf(&out, " Probe(%s)", listed(effect.Names))
		case Rollback:
			out.WriteString(" Rollback")
			if effect.Intact {
				out.WriteString("(intact)")
			}
		case Finish:
			o := effect.Outcome
			fmt.Fprintf(&out, " Finish(%s", o.Result)
			if o.Final {
				out.WriteString(", final")
			}
			if o.Interrupted {
				out.WriteString(", interrupted")
			}
			if len(o.GuardedBy) > 0 {
				fmt.Fprintf(&out, ", guarded by %s", listed(o.GuardedBy))
			}
			if o.Message != "" {
				fmt.Fprintf(&out, ", %q", o.Message)
			}
			if len(o.Differences) > 0 {
				fmt.Fprintf(&out, ", left: %s", strings.Join(o.Differences, " "))
			}
			out.WriteString(")")
		default:
			fmt.Fprintf(&out, " %s", reflect.TypeOf(effect).Name())
		}
	}
	return out.String()
}

func TestACheckpointOutlivesEveryWait(t *testing.T) {
	ping := Guard{Name: "ping 192.0.2.1", Timeout: 10 * time.Second}
	slow := Guard{Name: "http http://192.0.2.1/", Timeout: 10 * time.Minute}
	for sentence, c := range map[string]struct {
		change Change
		want   time.Duration
	}{
		"the window of the default probes":               {Change{Window: time.Minute}, 90 * time.Second},
		"a probe of less time does not shorten it":       {Change{Window: time.Minute, Probes: []Guard{ping}}, 90 * time.Second},
		"a probe of more time lengthens it":              {Change{Window: time.Minute, Probes: []Guard{ping, slow}}, 10*time.Minute + 30*time.Second},
		"a person has their time after the probes' time": {Change{Window: time.Minute, Confirm: 5 * time.Minute}, 6*time.Minute + 30*time.Second},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := c.change.RollbackAfter(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

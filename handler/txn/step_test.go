package txn

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

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
			got := replay(t, string(raw))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(raw), got); diff != "" {
				t.Errorf("transcript differs (-file +now):\n%s", diff)
			}
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
	at := func(n int) time.Time {
		d, err := time.ParseDuration(strings.TrimPrefix(arg(n), "+"))
		if err != nil {
			t.Fatalf("%q: argument %d: %v", line, n, err)
		}
		return start.Add(d)
	}
	has := func(word string) bool { return strings.Contains(line+" ", " "+word+" ") }
	switch words[0] {
	case "wanted":
		return Wanted{Change{Generation: 7, Hash: "h", Policy: arg(1), Window: time.Minute}}
	case "unwanted":
		return Unwanted{arg(1)}
	case "baseline":
		return BaselineMeasured{words[1:]}
	case "armed":
		return Armed{}
	case "not-armed":
		return NotArmed{Cause{Message: arg(1), Final: has("final"), Superseded: has("superseded")}}
	case "checkpoint":
		return CheckpointMade{arg(1)}
	case "applied":
		return Applied{arg(1), at(2)}
	case "apply-failed":
		return ApplyFailed{Message: arg(1), Refused: has("refused")}
	case "passed":
		return ProbePassed{arg(1)}
	case "lost":
		return ProbeLost{arg(1), arg(2)}
	case "tick":
		return Tick{at(1)}
	case "committed":
		return Committed{}
	case "commit-failed":
		return CommitFailed{arg(1), has("gone")}
	case "rolled-back":
		return RolledBack{}
	case "rollback-failed":
		return RollbackFailed{Message: arg(1), Gone: has("gone"), Unavailable: has("unavailable"), At: at(2)}
	case "reverted":
		return Reverted{}
	case "revert-failed":
		return RevertFailed{Message: arg(1), Unavailable: has("unavailable"), At: at(2)}
	case "settled":
		return parseSettled(words[1:])
	case "networkmanager-restarted":
		return CheckpointLost{}
	case "recovered":
		return Recovered{Journal: State{Phase: Phase(arg(1)), Change: Change{Generation: 7, Policy: "p"}, Checkpoint: "/1",
			Guards: []string{"dns"}, Lost: has("lost"), Proven: has("proven")}, Alive: has("alive")}
	}
	t.Fatalf("unknown event %q", line)
	return nil
}

func parseSettled(words []string) Event {
	var settled Settled
	for _, word := range words {
		kind, what, _ := strings.Cut(word, ":")
		if kind == "missing" {
			settled.Missing = append(settled.Missing, what)
		} else {
			settled.Differences = append(settled.Differences, what)
		}
	}
	return settled
}

func show(effects []Effect) string {
	var out strings.Builder
	for _, effect := range effects {
		switch effect := effect.(type) {
		case Probe:
			fmt.Fprintf(&out, " Probe(%s)", strings.Join(effect.Names, " "))
		case Finish:
			o := effect.Outcome
			fmt.Fprintf(&out, " Finish(%s", o.Result)
			if o.Final {
				out.WriteString(", final")
			}
			if len(o.GuardedBy) > 0 {
				fmt.Fprintf(&out, ", guarded by %s", strings.Join(o.GuardedBy, " "))
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

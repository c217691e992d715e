package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/oracle"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

// said runs the command line and returns what it prints.
func said(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := command()
	var out strings.Builder
	cmd.SetOut(&out)
	cmd.SetArgs(twoDashes(args))
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestEveryKindOfLineThatIsDocumentedCanBeChosen(t *testing.T) {
	out, err := said(t, "-seed", "1", "-trace-kinds", "event,turn,activation")
	if err != nil || !strings.Contains(out, " event ") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestWrongUsageIsToldApartFromABrokenRule(t *testing.T) {
	for _, args := range []string{
		"", "-seed 1 -seeds 2", "-shrink", "-seeds 2 -workers 0", "-flood", "7", "-coverage -seed 1", "-run there/is/none.json", "-seeds 1 -rule none", "-seeds 1 -arm none", "-seed 1 -trace-kinds foo", "-shard 0/2", "-seeds 4 -shard 2/2", "-seeds 4 -shard 1", "-merge -seeds 4 x",
	} {
		t.Run(args, func(t *testing.T) {
			if _, err := said(t, strings.Fields(args)...); !errors.Is(err, errUsage) {
				t.Error(err)
			}
		})
	}
}

func TestManySeedsAreToldAsJSON(t *testing.T) {
	out, err := said(t, "-seeds", "3", "-json")
	if err != nil && !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Figures.Runs != 3 {
		t.Error(err, out)
	}
}

func TestWhatIsKnownIsToldAndFailsNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known")
	if err := os.WriteFile(file, []byte("# nothing\n7 reach the gateway has gone\n* histories leases\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := readKnown(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]struct {
		seed uint64
		rule string
	}{"the gateway has gone": {7, "reach"}, "leases": {9, "histories"}, "": {8, "reach"}} {
		if got := all.why(v.seed, oracle.Violation{Rule: v.rule}); got != want {
			t.Errorf("seed %d, %s: %q, want %q", v.seed, v.rule, got, want)
		}
	}
	if _, err := said(t, "-seeds", "1", "-known", "there/is/none"); !errors.Is(err, errUsage) {
		t.Error(err)
	}
}

// Runs that broke a rule once hold it now.
func TestKeptRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			k, err := read(file)
			if err != nil {
				t.Fatal(err)
			}
			if r := swarm.Execute(t.Context(), k.Run, swarm.Options{}); r.Violation != nil {
				t.Errorf("%s; when it was kept: %s; go run ./sim -run sim/%s", r.Violation, k.Found, file)
			}
		})
	}
}

// TestARunLeavesATimeline: Perfetto shows slices of a track that are apart, or one inside
// the other; what overlaps otherwise it leaves out.
func TestARunLeavesATimeline(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.json")
	if out, err := said(t, "-seed", "7", "-quiet", "-timeline", name); err != nil && !errors.Is(err, errBroken) {
		t.Fatal(err, out)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var run struct {
		OtherData   map[string]string
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid int
			At       int64 `json:"ts"`
			Dur      int64
		}
	}
	if err := json.Unmarshal(raw, &run); err != nil || run.OtherData["replay"] != "go run ./sim -seed 7" {
		t.Fatal(err, run.OtherData)
	}
	type span struct{ begin, end int64 }
	tracks, kinds := map[[2]int][]span{}, map[string]int{}
	for _, e := range run.TraceEvents {
		kinds[e.Ph]++
		if e.Ph != "X" {
			continue
		}
		track := [2]int{e.Pid, e.Tid}
		now := span{e.At, e.At + e.Dur}
		for _, s := range tracks[track] {
			if apart, holds := now.begin >= s.end || now.end <= s.begin, now.begin >= s.begin && now.end <= s.end; !apart && !holds {
				t.Errorf("%s at %d us overlaps another slice of its track", e.Name, e.At)
			}
		}
		tracks[track] = append(tracks[track], now)
	}
	if kinds["M"] == 0 || kinds["X"] == 0 || kinds["i"] == 0 {
		t.Errorf("a run of several nodes has names, slices and instants: %v", kinds)
	}
}

func TestARolloutComesToItsEnd(t *testing.T) {
	out, err := said(t, "-rollout", "-nodes", "12", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var r rolledOut
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Figures.Commits != 12 {
		t.Error(err, out)
	}
}

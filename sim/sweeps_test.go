package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallest = "bridges-in-a-circle-are-refused"

func TestASweepIsToldAsJSON(t *testing.T) {
	out, err := said(t, "-sweep", "-scenario", smallest, "-pairs", "3", "-json")
	if err != nil {
		t.Fatal(err, out)
	}
	var r sweepReport
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err, out)
	}
	// Five faults at each call, and the power goes after those that may write.
	if row := r.Scenarios[0]; r.Pairs != 3 || r.Singles <= 5*row.Calls || r.Singles > 6*row.Calls || row.Runs != r.Singles+r.Pairs || row.Broken != 0 {
		t.Errorf("%+v %+v", r, *row)
	}
}

func TestAStruckRunIsReplayedWithItsTimeline(t *testing.T) {
	page := filepath.Join(t.TempDir(), "run.json")
	out, err := said(t, "-scenario", smallest, "-at", "10,12", "-fault", "crash-after,fail", "-timeline", page)
	if err != nil || !strings.Contains(out, ": crash-after\n") || !strings.Contains(out, "killed") {
		t.Error(err, out)
	}
	if raw, err := os.ReadFile(page); err != nil || !strings.Contains(string(raw), "-at 10,12 -fault crash-after,fail") {
		t.Error(err)
	}
}

// A nanosecond is over before the first run begins.
func TestASearchWhoseTimeIsOverTellsWhatItDidNotRunAndFailsNothing(t *testing.T) {
	for _, args := range []string{"-sweep -scenario " + smallest + " -pairs 3", "-seeds 3 -coverage"} {
		t.Run(args, func(t *testing.T) {
			out, err := said(t, append(strings.Fields(args), "-at-most", "1ns")...)
			if _, told, _ := strings.Cut(out, "OUT OF TIME: "); err != nil || !strings.Contains(told, "within 1ns (-at-most)") {
				t.Error(err, out)
			}
		})
	}
}

func TestWrongUsageOfTheSweep(t *testing.T) {
	for _, args := range []string{
		"-at 3 -fault fail", "-sweep -share 0", "-sweep -at 3 -fault fail", "-scenario " + smallest + " -at 3", "-scenario " + smallest + " -at 3 -fault flood",
		"-scenario " + smallest + " -at 3,4 -fault fail", "-scenario " + smallest + " -at 0 -fault fail",
	} {
		t.Run(args, func(t *testing.T) {
			if _, err := said(t, strings.Fields(args)...); !errors.Is(err, errUsage) {
				t.Error(err)
			}
		})
	}
}

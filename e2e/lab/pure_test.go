//go:build linux

package lab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/clock"
)

func TestOutageIsTheGapsBetweenAnswers(t *testing.T) {
	at := func(i int) time.Time { return time.Unix(int64(i), 0) }
	for name, tt := range map[string]struct {
		answers string // one letter for each ping; the last never counts
		want    []Gap
	}{
		"no ping, no gap":               {"", nil},
		"all answered, no gap":          {"yyyn", nil},
		"a gap ends at the next answer": {"ynnyy", []Gap{{From: at(1), To: at(3), Lost: 2}}},
		"a gap may be open at the end":  {"ynny"[:3] + "n", []Gap{{From: at(1), To: at(3), Lost: 2, Open: true}}},
		"two gaps are two":              {"nynyy", []Gap{{From: at(0), To: at(1), Lost: 1}, {From: at(2), To: at(3), Lost: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []time.Time
			var answered []bool
			for i, c := range tt.answers {
				sent, answered = append(sent, at(i)), append(answered, c == 'y')
			}
			if diff := cmp.Diff(tt.want, outage(sent, answered).Gaps); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPeerNamesFitTheKernel(t *testing.T) {
	for _, node := range []string{"n", "a-node-with-quite-a-long-name"} {
		if name := peerName(node, "enp0s31f6"); len(name) > 15 {
			t.Errorf("%s has %d characters", name, len(name))
		}
	}
}

// TestASupervisorWaitsForAPhase in the log of what it runs, from a place on, and for the one
// after those that were waited for.
func TestASupervisorWaitsForAPhase(t *testing.T) {
	line := func(phase string) string { return `{"msg":"transaction","phase":"` + phase + `"}` + "\n" }
	old := line("Probing") + line("Idle")
	log := filepath.Join(t.TempDir(), "handler.log")
	if err := os.WriteFile(log, []byte(old+line("Applying")+line("Probing")+line("Idle")+line("Applying")+"{"), 0o600); err != nil {
		t.Fatal(err)
	}
	sup := newSupervisor(clock.RealClock{}, &unit{name: "handler", logFile: log})
	for name, tt := range map[string]struct {
		in   inPhase
		want response
	}{
		"the first one from there on": {inPhase{Phase: "Probing"}, response{Waited: 2}},
		"the second one":              {inPhase{Phase: "Applying", Waited: 1}, response{Waited: 4}},
		"one that does not come": {inPhase{Phase: "Probing", Waited: 2}, response{
			Error: "phase Probing was not entered within 0s; entered: [Applying Probing Idle Applying]",
		}},
	} {
		tt.in.From = int64(len(old))
		got := sup.answer(t.Context(), request{Verb: "halt", Target: "handler", In: &tt.in})
		got.Units = nil
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

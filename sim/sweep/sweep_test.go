package sweep

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

func recorded(t *testing.T, name string) *Recording {
	t.Helper()
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(s *scenario.Scenario) bool { return s.Name == name })
	if at < 0 {
		t.Fatalf("there is no scenario %s", name)
	}
	rec, err := Record(t.Context(), all[at], 1)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

const small = "a-dummy-carries-an-address"

func TestTheSameStrikeGivesTheSameRun(t *testing.T) {
	rec := recorded(t, small)
	strikes := []Strike{{uint64(rec.Start + 5), CrashAfter}} //nolint:gosec // It is small.
	first, err := rec.Strike(t.Context(), strikes, nil)
	if err != nil || first.Violation != nil {
		t.Fatal(first.Violation, err)
	}
	again, _ := recorded(t, small).Strike(t.Context(), strikes, nil)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
}

// The bug: whenever a handler dies in the middle of a change, eth2 loses a part of its MTU.
func TestABugThatOnlyACrashInATransactionShowsIsFound(t *testing.T) {
	rec := recorded(t, small)
	rec.plant = func(r *run) {
		node := r.cluster.Nodes()[0]
		interpose := r.world.Interpose
		r.world.Interpose = interposed(interpose, func() bool { return node.Host.JournalOpen() }, func() { node.Host.SetMTU("eth2", 1400) })
	}
	found := map[Fault]int{}
	for _, call := range rec.Calls[rec.Start:] {
		for _, fault := range []Fault{Fail, CrashBefore} {
			result, err := rec.Strike(t.Context(), []Strike{{call.Number, fault}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v := result.Violation; v != nil {
				found[fault]++
				if v.Rule != "same-end" && v.Rule != "taken-back" {
					t.Errorf("%s of %s: %s", fault, call, v)
				}
			}
		}
	}
	if found[CrashBefore] == 0 || found[Fail] > 0 {
		t.Errorf("found %v; want some crashes and no failures", found)
	}
}

func TestChosenAreThereAndAreEnough(t *testing.T) {
	all, err := scenario.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(Chosen(), slices.Collect(maps.Keys(AnyEnd()))) {
		if !slices.ContainsFunc(all, func(s *scenario.Scenario) bool { return s.Name == name }) {
			t.Errorf("there is no scenario %s", name)
		}
	}
	if got := len(Chosen()); got < 20 {
		t.Errorf("%d are chosen", got)
	}
}

func TestAStartThatTwoScenariosShareIsSweptOnce(t *testing.T) {
	calls := []Call{{Number: 1, Port: "journal"}, {Number: 2, Port: "journal"}, {Number: 3, Port: "backend"}}
	jobs, left := Singles([]*Recording{
		{Calls: calls, Start: 2, StartHash: 7}, {Calls: calls, Start: 2, StartHash: 7}, {Calls: calls, Start: 2, StartHash: 8},
	})
	if want := (3 + 1 + 3) * len(Faults()); len(jobs) != want || left != 2 {
		t.Errorf("%d runs and %d calls left out, want %d and 2", len(jobs), left, want)
	}
}

func TestPairsAreTheSameForASeed(t *testing.T) {
	recordings := []*Recording{{Calls: make([]Call, 40), Start: 9}}
	draw := func(seed uint64) []string {
		var all []string
		for _, job := range Pairs(recordings, 20, seed) {
			if job.Strikes[0].Call >= job.Strikes[1].Call || job.Strikes[0].Call <= 9 {
				t.Errorf("%v", job.Strikes)
			}
			all = append(all, fmt.Sprint(job.Strikes))
		}
		return all
	}
	if diff := cmp.Diff(draw(1), draw(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(draw(1), draw(2)) {
		t.Error("two seeds give the same pairs")
	}
}

// What a sweep found once holds now. A line is a scenario, a call (the number among
// those of its port and verb) and a fault.
func TestFound(t *testing.T) {
	file, err := os.Open("testdata/found.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			rec := recorded(t, words[0])
			name, number, _ := strings.Cut(words[1], "#")
			for _, call := range rec.Calls {
				if call.Port+"."+call.Verb != name {
					continue
				}
				nth := 0
				for _, other := range rec.Calls[:call.Number] {
					if other.Port == call.Port && other.Verb == call.Verb {
						nth++
					}
				}
				if fmt.Sprint(nth) != number {
					continue
				}
				job := Job{rec, []Strike{{call.Number, Fault(words[2])}}}
				result, err := rec.Strike(t.Context(), job.Strikes, nil)
				if err != nil || result.Violation != nil {
					t.Errorf("%s: %v %v; %s", job, result.Violation, err, job.Replay())
				}
				return
			}
			t.Errorf("the scenario makes no such call any more")
		})
	}
}

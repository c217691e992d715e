package mutants_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/mutants"
)

// which bugs the swarm looks for: building the simulator anew for all of them
// takes minutes, so hack/sim.sh does.
var (
	which = flag.String("which", "commit-before-the-last-probe", "mutants that the swarm has to find, with commas between; all for all")
	// One start is luck: of several, the median counts.
	starts = flag.Int("starts", 1, "from so many starts; the first one is always the same")
	from   = flag.Uint64("from", 1_000_000, "where the second start is; the others follow")
	share  = flag.Int("share", 1, "of the mutants, only one in so many has more than one start; which ones, -from says")
)

const (
	// fixed is the first start, apart how far the others are from one another.
	fixed = 1
	apart = 10_000
)

// startsOf are the seeds from which the mutant of this number is looked for.
func startsOf(number int) []uint64 {
	seeds := []uint64{fixed}
	if (uint64(number)+*from)%uint64(*share) != 0 { //nolint:gosec // They are small.
		return seeds
	}
	for n := range uint64(*starts - 1) { //nolint:gosec // They are small.
		seeds = append(seeds, *from+n*apart)
	}
	return seeds
}

// report is what sim -json tells of many seeds, as far as it is read here.
type report struct {
	Figures struct{ Runs int }
	Broken  []struct {
		Seed      uint64
		Violation struct {
			Rule, Node, Message string
			At                  time.Duration `json:"atNanoseconds"`
		}
	}
}

// TestTheSwarmFindsPlantedBugs: each by the rule that is there for it, in as many
// seeds as its patch says, by the median of its starts; and without the bug the rule
// holds in that seed.
func TestTheSwarmFindsPlantedBugs(t *testing.T) {
	for name := range strings.SplitSeq(*which, ",") {
		if name != "all" && !slices.ContainsFunc(all(t), func(m mutants.Mutant) bool { return m.Name == name }) {
			t.Fatalf("-which: no planted bug is called %q", name)
		}
	}
	clean := filepath.Join(t.TempDir(), "sim")
	build(t, clean)
	var mu sync.Mutex
	var figures []string
	t.Cleanup(func() {
		slices.Sort(figures)
		t.Logf("found, with how many runs, in which seed, at which virtual time:\n%s", strings.Join(figures, "\n"))
	})
	t.Run("each", func(t *testing.T) {
		for number, m := range all(t) {
			if *which != "all" && !slices.Contains(strings.Split(*which, ","), m.Name) {
				continue
			}
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				line := find(t, m, clean, startsOf(number))
				mu.Lock()
				defer mu.Unlock()
				figures = append(figures, line)
			})
		}
	})
}

// find runs the mutant from each start until its rule complains, and tells the median.
func find(t *testing.T, m mutants.Mutant, clean string, from []uint64) string {
	dir := t.TempDir()
	overlay, err := m.Overlay(root(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	mutated := filepath.Join(dir, "sim")
	build(t, mutated, "-overlay", overlay)
	var took []int
	line := ""
	for _, start := range from {
		runs, first := search(t, m, mutated, clean, start)
		took = append(took, runs)
		if line == "" {
			line = first
		}
	}
	middle := mutants.Median(took)
	if middle > m.Seeds {
		t.Errorf("the rule %q has found nothing in %d seeds: %s; runs from each of the starts %v: %v", m.Rule, m.Seeds, m.Bug, from, took)
	}
	near := ""
	if 2*middle > m.Seeds {
		near = ", NEAR ITS LIMIT"
	}
	return fmt.Sprintf("%-42s %-20s %4d runs%s of %v within %d, %s", m.Name, m.Rule, middle, near, took, m.Seeds, line)
}

// search runs the mutant from a seed on until its rule complains of what it does not
// complain of without the bug: how many runs that took, more than there may be
// where it found nothing, and how it was found.
func search(t *testing.T, m mutants.Mutant, mutated, clean string, start uint64) (runs int, found string) {
	for runs < m.Seeds {
		r := run(t, mutated, m, "-from", fmt.Sprint(start+uint64(runs)), "-seeds", fmt.Sprint(m.Seeds-runs), "-failures", "1") //nolint:gosec // They are small.
		runs += r.Figures.Runs
		if len(r.Broken) == 0 {
			break
		}
		b := r.Broken[0]
		if b.Violation.Rule != m.Rule {
			t.Fatalf("seed %d broke %q (%s) before the rule %q found anything", b.Seed, b.Violation.Rule, b.Violation.Message, m.Rule)
		}
		again := run(t, clean, m, "-from", fmt.Sprint(b.Seed), "-seeds", "1")
		switch {
		case len(again.Broken) == 0:
			return runs, fmt.Sprintf("seed %4d at %10s %s: %s", b.Seed, b.Violation.At.Round(time.Millisecond), b.Violation.Node, b.Violation.Message)
		case start == fixed:
			t.Fatalf("seed %d breaks the rule %q without the bug too: %s", b.Seed, m.Rule, again.Broken[0].Violation.Message)
		}
		t.Logf("fresh seed %d breaks the rule %q without the bug too: %s", b.Seed, m.Rule, again.Broken[0].Violation.Message)
	}
	return m.Seeds + 1, ""
}

func build(t *testing.T, to string, flags ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-o", to}, flags...), "./sim")...)
	cmd.Dir = root(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the simulator: %v\n%s", err, out)
	}
}

// run runs seeds one after the other, so that it is always the same that is found
// first.
func run(t *testing.T, program string, m mutants.Mutant, flags ...string) report {
	t.Helper()
	if m.Faults != "" {
		flags = append(flags, "-arm", m.Faults)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"-json", "-workers", "1", "-rule", m.Rule}, flags...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || len(exit.Stderr) > 0) {
		t.Fatalf("running it: %v\n%s", err, exit.Stderr)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("reading what it says: %v\n%s", err, out)
	}
	return r
}

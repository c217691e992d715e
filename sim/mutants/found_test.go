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
var which = flag.String("which", "commit-before-the-last-probe", "mutants that the swarm has to find, with commas between; all for all")

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
// seeds as its patch says; and without the bug the rule holds in that seed.
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
		for _, m := range all(t) {
			if *which != "all" && !slices.Contains(strings.Split(*which, ","), m.Name) {
				continue
			}
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				line := find(t, m, clean)
				mu.Lock()
				defer mu.Unlock()
				figures = append(figures, line)
			})
		}
	})
}

// find runs the mutant until its rule complains.
func find(t *testing.T, m mutants.Mutant, clean string) string {
	dir := t.TempDir()
	overlay, err := m.Overlay(root(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	mutated := filepath.Join(dir, "sim")
	build(t, mutated, "-overlay", overlay)
	r := run(t, mutated, m, "-seeds", fmt.Sprint(m.Seeds), "-failures", "1")
	if len(r.Broken) > 0 {
		b := r.Broken[0]
		if b.Violation.Rule != m.Rule {
			t.Fatalf("seed %d broke %q (%s) before the rule %q found anything", b.Seed, b.Violation.Rule, b.Violation.Message, m.Rule)
		}
		if again := run(t, clean, m, "-from", fmt.Sprint(b.Seed), "-seeds", "1"); len(again.Broken) > 0 {
			t.Fatalf("seed %d breaks the rule %q without the bug too: %s", b.Seed, m.Rule, again.Broken[0].Violation.Message)
		}
		return fmt.Sprintf("%-42s %-20s %4d runs, seed %4d at %10s %s: %s", m.Name, m.Rule, r.Figures.Runs, b.Seed,
			b.Violation.At.Round(time.Millisecond), b.Violation.Node, b.Violation.Message)
	}
	t.Errorf("the rule %q has found nothing in %d seeds: %s", m.Rule, r.Figures.Runs, m.Bug)
	return ""
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

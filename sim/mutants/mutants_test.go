package mutants_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/mutants"
	"github.com/nmstate/kubernetes-nmstate/sim/swarm"
)

func all(t *testing.T) []mutants.Mutant {
	t.Helper()
	found, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// root of the repository.
func root(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestThereAreEnoughPlantedBugs(t *testing.T) {
	if n := len(all(t)); n < 20 {
		t.Errorf("%d planted bugs, want 20 or more", n)
	}
}

func TestEveryRuleHasAPlantedBug(t *testing.T) {
	for _, rule := range swarm.Rules() {
		if !slices.ContainsFunc(all(t), func(m mutants.Mutant) bool { return m.Rule == rule }) {
			t.Errorf("no planted bug shows that the rule %q can fail", rule)
		}
	}
}

func TestEveryPatchAppliesAndTheMutantsPassVet(t *testing.T) {
	for _, group := range groups(all(t)) {
		var names []string
		merged := mutants.Mutant{}
		for _, m := range group {
			names = append(names, m.Name)
			merged.Files = append(merged.Files, m.Files...)
		}
		merged.Name = strings.Join(names, ", ")
		t.Run(merged.Name, func(t *testing.T) {
			overlay, err := merged.Overlay(root(t), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			vet := exec.CommandContext(t.Context(), "go", append([]string{"vet", "-overlay", overlay}, merged.Packages()...)...)
			vet.Dir = root(t)
			if out, err := vet.CombinedOutput(); err != nil {
				t.Errorf("go vet of %s: %v\n%s", merged.Name, err, out)
			}
		})
	}
}

// groups puts mutants together that have no file in common: the go command takes
// two seconds however little there is to do.
func groups(all []mutants.Mutant) [][]mutants.Mutant {
	var found [][]mutants.Mutant
	var taken []map[string]bool
next:
	for _, m := range all {
		for i := range found {
			if !slices.ContainsFunc(m.Files, func(f mutants.File) bool { return taken[i][f.Path] }) {
				found[i] = append(found[i], m)
				for _, f := range m.Files {
					taken[i][f.Path] = true
				}
				continue next
			}
		}
		taken = append(taken, map[string]bool{})
		for _, f := range m.Files {
			taken[len(taken)-1][f.Path] = true
		}
		found = append(found, []mutants.Mutant{m})
	}
	return found
}

func TestApplyRefusesAPatchWhosePassageIsNotThereOnce(t *testing.T) {
	tests := map[string]struct {
		text, want string
	}{
		"there once, at the beginning":   {"a\nb\nc\n", "a\nB\nc\n"},
		"there once, further down":       {"x\na\nb\nc\n", "x\na\nB\nc\n"},
		"changed meanwhile":              {"a\nb2\nc\n", ""},
		"there twice":                    {"a\nb\nc\na\nb\nc\n", ""},
		"only as the end of another one": {"xa\nb\nc\n", ""},
	}
	m, err := mutants.Parse("bug: b\n  is a bug\nrule: r\nseeds: 1\n\n--- a/f.go\n+++ b/f.go\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
	if err != nil {
		t.Fatal(err)
	}
	if m.Bug != "b is a bug" || m.Rule != "r" || m.Seeds != 1 {
		t.Errorf("read %+v", m)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := m.Files[0].Apply(test.text)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestAMalformedPatchIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no diff":            "bug: b\nrule: r\nseeds: 1\n\n",
		"no seeds":           "bug: b\nrule: r\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
		"an unknown key":     "bug: b\nrule: r\nseeds: 1\nx: y\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
		"a line of no diff":  "bug: b\nrule: r\nseeds: 1\n\n--- a/f\n+++ b/f\n@@ -1 +1 @@\nxyz\n",
		"a hunk of no file":  "bug: b\nrule: r\nseeds: 1\n\n@@ -1 +1 @@\n-a\n+b\n",
		"no line in between": "bug: b\nrule: r\nseeds: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := mutants.Parse(text); err == nil {
				t.Errorf("read as %+v", m)
			} else if strings.Contains(err.Error(), "\n\n") {
				t.Errorf("not readable: %v", err)
			}
		})
	}
}

func TestTheMedianOfTheRuns(t *testing.T) {
	for name, test := range map[string]struct {
		runs []int
		want int
	}{
		"one start":             {[]int{7}, 7},
		"one of five was lucky": {[]int{60, 1, 50, 70, 65}, 60},
		"of two the lower one":  {[]int{201, 3}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got := mutants.Median(test.runs); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

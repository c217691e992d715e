package mutants

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

//go:embed patches/*.patch
var patches embed.FS

// Mutant is a planted bug.
type Mutant struct {
	// Name is that of its file, without its end.
	Name string
	// Bug says what is wrong.
	Bug string
	// Rule of sim/oracle that finds it.
	Rule string
	// Seeds that the swarm has to find it within.
	Seeds int
	// Faults that every run has, beside those that are drawn; often none.
	Faults string
	// Files that it changes.
	Files []File
}

// All are the planted bugs, in the order of their names.
func All() ([]Mutant, error) {
	names, err := fs.Glob(patches, "patches/*.patch")
	if err != nil {
		return nil, fmt.Errorf("listing the patches: %w", err)
	}
	all := make([]Mutant, 0, len(names))
	for _, name := range names {
		raw, err := patches.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		m, err := Parse(string(raw))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		m.Name = strings.TrimSuffix(path.Base(name), ".patch")
		all = append(all, m)
	}
	return all, nil
}

// Parse reads a patch file: lines "key: value", continued by lines that are
// indented, an empty line, a diff.
func Parse(text string) (Mutant, error) {
	head, diff, found := strings.Cut(text, "\n\n")
	if !found {
		return Mutant{}, fmt.Errorf("there is no empty line between the head and the diff")
	}
	values := map[string]string{}
	key := ""
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, " ") {
			values[key] += " " + strings.TrimSpace(line)
			continue
		}
		var value string
		if key, value, found = strings.Cut(line, ": "); !found {
			return Mutant{}, fmt.Errorf("%q in the head is not \"key: value\"", line)
		}
		values[key] = value
	}
	seeds, err := strconv.Atoi(values["seeds"])
	if err != nil || seeds < 1 {
		return Mutant{}, fmt.Errorf("seeds: %q is not a whole number from 1", values["seeds"])
	}
	m := Mutant{Bug: values["bug"], Rule: values["rule"], Seeds: seeds, Faults: values["faults"]}
	delete(values, "faults")
	if m.Bug == "" || m.Rule == "" || len(values) != 3 {
		return Mutant{}, fmt.Errorf("the head has bug, rule and seeds, and may have faults")
	}
	m.Files, err = parseDiff(diff)
	return m, err
}

// Median of how many runs a bug took from several starts; of two the
// lower one: that a fresh start has no luck fails nothing.
func Median(runs []int) int {
	sorted := slices.Sorted(slices.Values(runs))
	return sorted[(len(sorted)-1)/2]
}

package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// TestInTheSimulator runs all of them, with a seed and with three more that only
// vary latencies: what is left at the end does not depend on them.
func TestInTheSimulator(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			first := ""
			for seed := range uint64(4) {
				var lines []string
				picture, _, err := InSimulator(t.Context(), s, seed+1, func(line string) { lines = append(lines, line) })
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed+1, err, strings.Join(lines, "\n"))
				}
				if first == "" {
					first = picture
				}
				if picture != first && !chosenByChance(s) {
					t.Errorf("seed %d leads to another end:\n%s\nthan seed 1:\n%s", seed+1, picture, first)
				}
			}
		})
	}
}

// chosenByChance tells scenarios in which the order of nodes is not said.
func chosenByChance(s *Scenario) bool { return len(s.Topology.Nodes) > 1 }

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all[:5] {
		run := func() string {
			picture, hash, err := InSimulator(t.Context(), s, 7, nil)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%x\n%s", hash, picture)
		}
		if first, again := run(), run(); first != again {
			t.Errorf("%s: %s\nthen %s", s.Name, first, again)
		}
	}
}

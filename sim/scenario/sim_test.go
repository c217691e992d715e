package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
				played, err := Play(t.Context(), s, Playing{Seed: seed + 1, Said: func(line string) { lines = append(lines, line) }})
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed+1, err, strings.Join(lines, "\n"))
				}
				end := s.Comparable(played.Picture)
				if first == "" {
					first = end
				}
				if diff := cmp.Diff(strings.Split(first, "\n"), strings.Split(end, "\n")); diff != "" {
					t.Errorf("seed %d leads to another end than seed 1 (-):\n%s", seed+1, diff)
				}
			}
		})
	}
}

func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all[:5] {
		run := func() string {
			played, err := Play(t.Context(), s, Playing{Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%x\n%s", played.Hash, played.Picture)
		}
		if first, again := run(), run(); first != again {
			t.Errorf("%s: %s\nthen %s", s.Name, first, again)
		}
	}
}

//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func someFigures() []figure {
	b := &bench{}
	b.figure("bridge, no DNS: policy over bare", "ratio", new(0.35), 0.4, 0.3)
	b.figure("bridge, no DNS: policy over bare", "ratio", new(0.35), 0.36)
	b.figure("idle node: writes to the API", "requests", new(0.0), 0)
	b.figure("bridge, no DNS: bare", "s", nil, 1.25)
	b.figure("nobody measured this", "s", nil)
	return b.figures
}

func TestFiguresStandBesideTheirGoals(t *testing.T) {
	for output, want := range map[string]string{
		outputTable: `
== all figures

figure                             median       from   to     runs   goal           reached
bridge, no DNS: policy over bare   0.36 ratio   0.30   0.40   3      at most 0.35   NO
idle node: writes to the API       0 requests   0      0      1      at most 0      yes
bridge, no DNS: bare               1.25 s       1.25   1.25   1
`,
		outputBenchmark: `BenchmarkBridge_no_DNS_policy_over_bare 1 0.4 ratio
BenchmarkBridge_no_DNS_policy_over_bare 1 0.3 ratio
BenchmarkBridge_no_DNS_policy_over_bare 1 0.36 ratio
BenchmarkIdle_node_writes_to_the_API 1 0 requests
BenchmarkBridge_no_DNS_bare 1 1.25 s
`,
	} {
		var got strings.Builder
		if err := printFigures(&got, output, someFigures()); err != nil {
			t.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(got.String()) {
			lines = append(lines, strings.TrimRight(line, " \n"))
		}
		if diff := cmp.Diff(strings.TrimSuffix(want, "\n"), strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", output, diff)
		}
	}
}

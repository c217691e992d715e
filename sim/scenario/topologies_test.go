package scenario

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withoutScenario are topologies that lack what the others have, each with the reason.
var withoutScenario = map[Shown]string{
	{"life", "sr-iov"}:    "the simulator has no virtual functions (sim/README.md)",
	{"cut-off", "sr-iov"}: "the simulator has no virtual functions (sim/README.md)",
	{"power", "sr-iov"}:   "the simulator has no virtual functions (sim/README.md)",

	{"life", "ipv6-only"}:    byIPv4,
	{"cut-off", "ipv6-only"}: byIPv4,
	{"power", "ipv6-only"}:   byIPv4,
}

const byIPv4 = "the simulator's nodes reach the API server by IPv4; the suite cuts such a node off, and cuts its power, on the lab (e2e/suite/families_test.go)"

// TestEachTopologyHasItsScenarios: one in which a policy has its whole life, one in which
// the node is cut off and takes the change back, and one in which power goes in
// each phase of the trial. What a scenario says of itself is held against its steps.
func TestEachTopologyHasItsScenarios(t *testing.T) {
	files, err := filepath.Glob("../../e2e/lab/topologies/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d topologies: %v", len(files), err)
	}
	missing := map[Shown]bool{}
	for _, file := range files {
		for what := range whatIsShown {
			missing[Shown{what, strings.TrimSuffix(filepath.Base(file), ".yaml")}] = true
		}
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, shown := range s.Shows {
			if _, is := missing[shown]; !is {
				t.Errorf("%s: there is no topology %s", s.Name, shown.Topology)
			}
			missing[shown] = false
			for _, step := range whatIsShown[shown.What] {
				if !has(s, step) {
					t.Errorf("%s says that it shows %s of %s, and has no step %q", s.Name, shown.What, shown.Topology, step)
				}
			}
		}
	}
	for shown, is := range missing {
		switch reason := withoutScenario[shown]; {
		case is && reason == "":
			t.Errorf("no scenario says \"shows %s %s\": write one, or give the reason here", shown.What, shown.Topology)
		case !is && reason != "":
			t.Errorf("%s of %s has a scenario: its reason can go", shown.What, shown.Topology)
		}
	}
	for shown := range withoutScenario {
		if _, is := missing[shown]; !is {
			t.Errorf("a reason is given for %s of %s, which there is not", shown.What, shown.Topology)
		}
	}
}

// whatIsShown are the steps that each kind of scenario has. A "+" joins two that follow
// one another, a "|" stands between two of which one is enough: the NIC of some had a
// profile before.
var whatIsShown = map[string][]string{
	"life": {
		"apply create.yaml", "reboot node1", "apply change.yaml", "apply shrink.yaml", "drift node1", "apply absent.yaml",
		"delete policy life", "await same node1 since start|await undone node1 since start",
	},
	"cut-off": {"await enactment node1.power Failing 'api-server'", "expect rollback node1.power RolledBack", "await alike node1 since made"},
	"power": {
		"stop handler node1 in Applying+reboot node1", "stop handler node1 in Probing+reboot node1", "stop handler node1 in Committing+reboot node1",
		"stop handler node1 in RollingBack+reboot node1", "stop handler node1 in Settling+reboot node1", "await alike node1 since made",
	},
}

// has tells whether steps of the scenario, one after the other, begin like that.
func has(s *Scenario, steps string) bool {
	wanted := strings.Split(steps, "+")
	for i := range s.Steps[:len(s.Steps)-len(wanted)+1] {
		if !slices.ContainsFunc(wanted, func(want string) bool {
			at := slices.Index(wanted, want)
			return !slices.ContainsFunc(strings.Split(want, "|"), func(one string) bool { return strings.HasPrefix(s.Steps[i+at].Text, one) })
		}) {
			return true
		}
	}
	return false
}

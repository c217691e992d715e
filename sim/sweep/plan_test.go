package sweep

import (
	"slices"
	"testing"

	"github.com/nmstate/kubernetes-nmstate/sim/scenario"
)

// jobsOf are so many runs of a scenario, told apart by the call.
func jobsOf(name string, count uint64) (jobs []Job) {
	rec := &Recording{Scenario: &scenario.Scenario{Name: name}}
	for call := range count {
		jobs = append(jobs, Job{rec, []Strike{{Call: call, Fault: Fail}}})
	}
	return jobs
}

func TestSoManyStartsThatFollowOneAnotherShareAllRuns(t *testing.T) {
	const one, others, chosen = 4, 22, 5
	count := map[uint64]int{}
	for from := uint64(1000); from < 1000+one; from++ {
		shared := Share(slices.Concat(jobsOf("one-of-the-others", others), jobsOf(Chosen()[0], chosen)), one, from)
		ours := 0
		for _, j := range shared {
			if j.Recording.Scenario.Name == Chosen()[0] {
				ours++
				continue
			}
			count[j.Strikes[0].Call]++
		}
		if ours != chosen {
			t.Errorf("from %d: %d of %d runs of a scenario that is chosen for every change", from, ours, chosen)
		}
	}
	for call := range uint64(others) {
		if count[call] != 1 {
			t.Errorf("call %d was struck %d times", call, count[call])
		}
	}
}

func TestOfTheRunsOfLongScenariosFewerAreTaken(t *testing.T) {
	for family, less := range long() {
		count := map[uint64]int{}
		for from := range uint64(less) { //nolint:gosec // It is small.
			for _, j := range Share(jobsOf(family+"a-bond", 50), 1, from) {
				count[j.Strikes[0].Call]++
			}
		}
		for call := range uint64(50) {
			if count[call] != 1 {
				t.Errorf("%s: call %d was struck %d times", family, call, count[call])
			}
		}
	}
}

package sweep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Job is one run of the sweep.
type Job struct {
	Recording *Recording
	Strikes   []Strike
}

// Replay is the command that runs it again, with its trace.
func (j Job) Replay() string {
	var calls, faults []string
	for _, s := range j.Strikes {
		calls = append(calls, fmt.Sprint(s.Call))
		faults = append(faults, string(s.Fault))
	}
	line := fmt.Sprintf("go run ./sim -scenario %s -at %s -fault %s", j.Recording.Scenario.Name, strings.Join(calls, ","), strings.Join(faults, ","))
	if j.Recording.Seed != 1 {
		line += fmt.Sprintf(" -seed %d", j.Recording.Seed)
	}
	return line
}

// String says what it strikes.
func (j Job) String() string {
	var parts []string
	for _, s := range j.Strikes {
		part := s.String()
		if int(s.Call) <= len(j.Recording.Calls) {
			part = fmt.Sprintf("%s of %s", s.Fault, j.Recording.Calls[s.Call-1])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", then ")
}

// Singles are all faults on all calls of all recordings, one in each run. Where several
// scenarios have the same start, byte for byte of their traces, its calls are
// swept in the first of them only; left is how many calls that leaves out.
func Singles(recordings []*Recording) (jobs []Job, left int) {
	started := map[uint64]bool{}
	for _, rec := range recordings {
		calls := rec.Calls
		if started[rec.StartHash] {
			left += rec.Start
			calls = calls[rec.Start:]
		}
		started[rec.StartHash] = true
		for _, call := range calls {
			for _, fault := range Faults() {
				if !fault.strikes(call) {
					continue
				}
				jobs = append(jobs, Job{rec, []Strike{{call.Number, fault}}})
			}
		}
	}
	return jobs, left
}

// Share keeps all runs of the scenarios that are chosen, and of the others one in so
// many, beginning with number from: so many starts that follow one another
// have all of them, but for those of the long ones, of which there are many times as many.
func Share(jobs []Job, one int, from uint64) []Job {
	chosen, others := Chosen(), 0
	return slices.DeleteFunc(jobs, func(j Job) bool {
		if slices.Contains(chosen, j.Recording.Scenario.Name) {
			return false
		}
		others++
		share := one
		for prefix, less := range long() {
			if strings.HasPrefix(j.Recording.Scenario.Name, prefix) {
				share *= less
			}
		}
		return (uint64(others)+from)%uint64(share) != 0 //nolint:gosec // They are small.
	})
}

// Shuffle draws an order, from a seed: where only the first ones can be run, they are
// of all scenarios.
func Shuffle(jobs []Job, seed uint64) []Job {
	world.New(seed).Rand("order").Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	return jobs
}

// long are families of scenarios whose members differ in the type of the link, by what their
// names begin with. Their runs would be most of all, so one in so many of them is taken:
// a life has six applies, and a loss of power in each phase has nineteen.
func long() map[string]int {
	return map[string]int{"the-life-of-": 8, "the-power-goes-in-each-phase-on-": 200}
}

// near is how far apart most of the two faults of a pair are, in calls: in the time in
// which the first one is being dealt with.
const near = 25

// Pairs draws so many pairs of faults, from a seed. The second one hits what is
// called then: after the first that may be something else than was recorded.
func Pairs(recordings []*Recording, count int, seed uint64) []Job {
	r := world.New(seed).Rand("pairs")
	var jobs []Job
	for range count {
		rec := recordings[r.IntN(len(recordings))]
		span := len(rec.Calls) - rec.Start
		if span == 0 {
			continue
		}
		first := rec.Start + 1 + r.IntN(span)
		second := first + 1 + r.IntN(near)
		if r.IntN(4) == 0 {
			second = first + 1 + r.IntN(span)
		}
		fault := func() Fault { return Faults()[r.IntN(len(Faults()))] }
		jobs = append(jobs, Job{rec, []Strike{{uint64(first), fault()}, {uint64(second), fault()}}}) //nolint:gosec // They are small.
	}
	return jobs
}

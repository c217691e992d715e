package swarm

import (
	"slices"

	"github.com/nmstate/kubernetes-nmstate/sim/fault"
)

// Shrink leaves out of a run what it does not need to break the same rule:
// faults, then what people do, then nodes, in halves first and one by one in
// the end. broken runs one and tells the rule that it broke; it is asked at most
// tries times.
func Shrink(run Run, rule string, tries int, broken func(Run) string) Run {
	same := func(smaller Run) bool {
		tries--
		return tries >= 0 && broken(smaller) == rule
	}
	for before := -1; before != run.parts() && tries > 0; {
		before = run.parts()
		run.Faults = fewer(run.Faults, func(some []fault.Fault) bool {
			smaller := run
			smaller.Faults = some
			return same(smaller)
		})
		run.Actions = fewer(run.Actions, func(some []Action) bool {
			smaller := run
			smaller.Actions = some
			return same(smaller)
		})
		run.Cluster.Nodes = fewer(run.Cluster.Nodes, func(some []Node) bool {
			smaller := run
			smaller.Cluster.Nodes = some
			return len(some) > 0 && same(smaller)
		})
	}
	return run
}

func (r Run) parts() int { return len(r.Faults) + len(r.Actions) + len(r.Cluster.Nodes) }

// fewer leaves out what it can while enough holds.
func fewer[T any](all []T, enough func(some []T) bool) []T {
	for size := (len(all) + 1) / 2; size > 0; size /= 2 {
		for i := 0; i < len(all); {
			some := slices.Concat(all[:i], all[min(i+size, len(all)):])
			if enough(some) {
				all = some
			} else {
				i += size
			}
		}
	}
	return all
}

package agent

import (
	"maps"
	"net/netip"
	"sync"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

// answers are what a measurement found: which probes and targets of probes
// passed, by targetKey, and what targets each probe has.
type answers struct {
	passed  map[string]bool
	targets map[string][]guard.Target
}

// targetKey names a target of a probe among all that is asked.
func targetKey(name string, address netip.Addr) string { return name + " " + address.String() }

// before sorts a probe's targets by whether they answered.
func (f answers) before(name string) guard.Before {
	var before guard.Before
	for _, target := range f.targets[name] {
		if f.passed[targetKey(name, target.Address)] {
			before.Answered = append(before.Answered, target)
		} else {
			before.Silent = append(before.Silent, target)
		}
	}
	return before
}

// round collects the answers of one measurement.
type round struct {
	mu      sync.Mutex
	awaited map[string]bool
	found   answers
	done    func(found answers)
}

func newRound(done func(found answers)) *round {
	return &round{awaited: map[string]bool{}, found: answers{passed: map[string]bool{}, targets: map[string][]guard.Target{}}, done: done}
}

// split waits for targets instead of their probe: for those that passed lately,
// and those of which nothing is known.
func (r *round) split(name string, targets []guard.Target, lately map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.targets[name] = targets
	if !r.awaited[name] {
		return
	}
	delete(r.awaited, name)
	for _, target := range targets {
		key := targetKey(name, target.Address)
		if passed, known := lately[key]; passed || !known {
			r.awaited[key] = true
		}
	}
}

func (r *round) answer(key string, passed bool) {
	r.mu.Lock()
	r.found.passed[key] = passed
	delete(r.awaited, key)
	r.mu.Unlock()
	r.finishIfComplete()
}

func (r *round) finishIfComplete() {
	r.mu.Lock()
	done := r.done
	if len(r.awaited) > 0 || done == nil {
		r.mu.Unlock()
		return
	}
	r.done = nil
	// What answers from now on is too late.
	found := answers{passed: maps.Clone(r.found.passed), targets: maps.Clone(r.found.targets)}
	r.mu.Unlock()
	for name, targets := range found.targets {
		for _, target := range targets {
			found.passed[name] = found.passed[name] || found.passed[targetKey(name, target.Address)]
		}
	}
	done(found)
}

package apiserver

import (
	"maps"
	"time"
)

// Request is one request as the server sees it.
type Request struct {
	// Process that asks, by its name.
	Process string
	// Verb: get, list, watch, create, update, patch or delete.
	Verb, Kind, Name string
	// Subresource is "status" or empty.
	Subresource string
}

// Faults are asked what goes wrong; each may be nil. What becomes of single
// requests on their way is up to world.World.Interpose, and whether the network
// carries them to Connection.Reach.
type Faults struct {
	// Delay is how long a change takes to a watcher; 1 to 5 ms without it.
	Delay func(process, kind string) time.Duration
	// Break tells, when a change is about to be told, that the watch ends
	// before: it is back after the outage, and then goes on where it was or,
	// when that is compacted by then, lists anew. An outage of 0 is none.
	Break func(process, kind string) (outage time.Duration, compacted bool)
	// Stale is how old the first list of a cache may be, at most; the watch
	// then brings what it lacks.
	Stale func(process, kind string) time.Duration
	// Answer is an error with which the server answers instead of doing it:
	// a Conflict, TooManyRequests, an internal error.
	Answer func(Request) error
}

// Hurry ends a delay of the watches of some processes for what is under way, too.
func (s *Store) Hurry(is func(process string) bool) {
	for _, t := range s.tables {
		for _, v := range t.views.of(is) {
			v.hurry()
		}
	}
}

// Count names requests that are counted together.
type Count struct{ Process, Verb, Kind, Subresource string }

// Requests are how many requests reached the server so far, or tried to.
func (s *Store) Requests() map[Count]int {
	return maps.Clone(s.counts)
}

func (s *Store) count(r Request) {
	s.counts[Count{r.Process, r.Verb, r.Kind, r.Subresource}]++
}

package idle

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// SupersededPause keeps a turn with a stale cache from beginning again and
// again what the API server says is over.
const SupersededPause = 2 * time.Second

// Backoff is how long a failed desired state waits for its next attempt
// (design §2, rule 5). The zero value is the product's.
type Backoff struct {
	// First and Most bound the wait where nothing was lost.
	First, Most time.Duration
	// FirstLost and MostLost bound it where a probe was lost: trying again is
	// another outage.
	FirstLost, MostLost time.Duration
}

// After is the wait after so many failed attempts. The jitter, up to a tenth,
// is drawn from the node's name, so that nodes do not retry in step and a
// replay waits as long as the original.
func (b Backoff) After(node string, attempts int32, lost bool) time.Duration {
	first, most := cmp.Or(b.First, time.Second), cmp.Or(b.Most, 5*time.Minute)
	if lost {
		first, most = cmp.Or(b.FirstLost, 10*time.Minute), cmp.Or(b.MostLost, 24*time.Hour)
	}
	wait := first
	for i := int32(1); i < attempts && wait < most; i++ {
		wait *= 2
	}
	wait = min(wait, most)
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s/%d", node, attempts)
	return wait + wait/10*time.Duration(hash.Sum32()%1000)/1000
}

// Ending is how a change ended, before it is told.
type Ending struct {
	Last v1.Transaction
	// Removal: policies left, and nothing else changed.
	Removal bool
	At      time.Time
	// Node and Backoff say how long it waits.
	Node    string
	Backoff Backoff
}

// After fills in which attempt it was, after the change that ended before, and when the
// next one is due, where the node decides that: of what was written by hand, and of a
// removal, of which no policy is left that could say so. For these nothing is final.
func (e Ending) After(before *v1.Transaction) v1.Transaction {
	last := e.Last
	switch last.Result {
	case v1.TransactionCommitted:
		return last
	case v1.TransactionSuperseded:
		// The newer desired state is on its way to the cache: no hurry to begin
		// the old one again.
		last.RetryAfter = InSeconds(e.At.Add(SupersededPause))
		return last
	}
	last.Attempts = 1
	if before != nil && before.Generation == last.Generation {
		last.Attempts = before.Attempts + 1
	}
	if len(last.Sources) == 0 || e.Removal {
		last.RetryAfter = InSeconds(e.At.Add(e.Backoff.After(e.Node, last.Attempts, last.Final)))
		last.Final = false
	}
	return last
}

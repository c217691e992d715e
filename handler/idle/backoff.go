package idle

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"time"
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

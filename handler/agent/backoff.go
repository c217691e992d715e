package agent

import (
	"fmt"
	"hash/fnv"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

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
	first, most := orElse(b.First, time.Second), orElse(b.Most, 5*time.Minute)
	if lost {
		first, most = orElse(b.FirstLost, 10*time.Minute), orElse(b.MostLost, 24*time.Hour)
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

// longestWait is the most that may be left of the wait after a change. What was
// lost is not in it, so it is as long as where a probe was.
func (a *Agent) longestWait(last *v1.Transaction) time.Duration {
	if last.Result == v1.TransactionSuperseded {
		return supersededPause
	}
	return a.Backoff.After(a.Node, last.Attempts, true)
}

func orElse(d, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return d
}

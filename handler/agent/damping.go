package agent

import (
	"cmp"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
)

// Damping is how drift is met, so that the agent and somebody else who keeps
// changing a thing back never fight. The zero value is the product's.
type Damping struct {
	// Quiet is how long a difference must last to be drift: while
	// NetworkManager changes something, much is different for a moment.
	Quiet time.Duration
	// Calm is how long after the agent's start, or NetworkManager's, no
	// difference counts: profiles are being brought up.
	Calm time.Duration
	// First and Most bound the wait between corrections of a thing that
	// drifts again and again; it doubles each time.
	First, Most time.Duration
	// Forget is how long a thing must have stayed right for its next
	// correction to be the first one again.
	Forget time.Duration
}

// orDefault fills in the product's values.
func (d Damping) orDefault() Damping {
	d.Quiet = cmp.Or(d.Quiet, 2*time.Second)
	d.Calm = cmp.Or(d.Calm, 15*time.Second)
	d.First = cmp.Or(d.First, 10*time.Second)
	d.Most = cmp.Or(d.Most, time.Hour)
	d.Forget = cmp.Or(d.Forget, time.Hour)
	return d
}

// due is when a thing that was found drifted then may be put right, given how
// that went so far. One that failed waits as a hand-written desired state
// would, if that is longer.
func (d Damping) due(past journal.Correction, found time.Time, backoff idle.Backoff, node string) time.Time {
	at := found
	if past.Times > 0 && found.Sub(past.Ended) < d.Forget {
		wait := d.First
		for i := int32(1); i < past.Times && wait < d.Most; i++ {
			wait *= 2
		}
		at = past.Ended.Add(min(wait, d.Most))
	}
	if past.Failures > 0 {
		if failed := past.Ended.Add(backoff.After(node, past.Failures, past.Lost)); failed.After(at) {
			at = failed
		}
	}
	return at
}

// counted is how it went so far with one more correction of a thing that was
// found drifted then. message is empty where it succeeded.
func (d Damping) counted(past journal.Correction, found, ended time.Time, message string, lost bool) journal.Correction {
	if found.Sub(past.Ended) >= d.Forget {
		past.Times = 0
	}
	past.Times++
	past.Ended, past.Message, past.Lost = ended, message, lost
	if message == "" {
		past.Failures = 0
	} else {
		past.Failures++
	}
	return past
}

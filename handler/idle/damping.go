package idle

import (
	"cmp"
	"maps"
	"time"
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

// OrDefault fills in the product's values.
func (d Damping) OrDefault() Damping {
	d.Quiet = cmp.Or(d.Quiet, 2*time.Second)
	d.Calm = cmp.Or(d.Calm, 15*time.Second)
	d.First = cmp.Or(d.First, 10*time.Second)
	d.Most = cmp.Or(d.Most, time.Hour)
	d.Forget = cmp.Or(d.Forget, time.Hour)
	return d
}

// Correction is how putting a drifted thing right again has gone so far.
type Correction struct {
	// Times in a row that it was put right, or tried to be, with the thing
	// drifting again; Failures in a row among them.
	Times    int32 `json:"times"`
	Failures int32 `json:"failures,omitempty"`
	// Lost: the last failure cost a probe.
	Lost bool `json:"lost,omitempty"`
	// Ended is when the last one ended, Message why it failed.
	Ended   time.Time `json:"ended"`
	Message string    `json:"message,omitempty"`
}

// due is when a thing that was found drifted then may be put right, given how
// that went so far. One that failed waits as a hand-written desired state
// would, if that is longer.
func (d Damping) due(past Correction, found time.Time, backoff Backoff, node string) time.Time {
	at := found
	if past.Times > 0 && found.Sub(past.Ended) < d.Forget {
		wait := d.First
		for i := int32(1); i < past.Times && wait < d.Most; i++ {
			wait *= 2
		}
		at = past.Ended.Add(min(wait, d.Most))
	}
	if past.Failures > 0 {
		at = later(at, past.Ended.Add(backoff.After(node, past.Failures, past.Lost)))
	}
	return at
}

// counted is how it went so far with one more correction of a thing that was
// found drifted then.
func (d Damping) counted(past Correction, found time.Time, e CorrectionEnded) Correction {
	if found.Sub(past.Ended) >= d.Forget {
		past.Times = 0
	}
	past.Times++
	past.Ended, past.Message, past.Lost = e.At, e.Message, e.Lost
	if e.Message == "" {
		past.Failures = 0
	} else {
		past.Failures++
	}
	return past
}

// Corrections of drift, by what drifted ("interfaces[eth1]").
type Corrections map[string]Correction

// CorrectionEnded is how a correction ended.
type CorrectionEnded struct {
	Subjects []string
	At       time.Time
	// Message is why it failed, empty where it succeeded; Lost: it cost a probe.
	Message string
	Lost    bool
}

// NotAhead has no correction end in the future: an earlier process's clock was
// ahead, and what waits for its time would wait until this one has caught up.
func (c Corrections) NotAhead(now time.Time) Corrections {
	next := maps.Clone(c)
	for subject, past := range next {
		past.Ended = earlier(past.Ended, now)
		next[subject] = past
	}
	return next
}

// After is how the corrections went once another one has ended, of what was found.
func (c Corrections) After(e CorrectionEnded, drift Drift, damping Damping) Corrections {
	damping = damping.OrDefault()
	next := Corrections{}
	for subject, past := range c {
		// A loss is worth remembering for as long as it may keep one waiting.
		if e.At.Sub(past.Ended) < max(damping.Forget, 25*time.Hour) {
			next[subject] = past
		}
	}
	for _, subject := range e.Subjects {
		next[subject] = damping.counted(next[subject], drift.since(subject, e.At), e)
	}
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

package observe

import "time"

// pacer thins out triggers: the first after a quiet time passes at once, the
// others of a burst become one, interval after the one before.
type pacer struct {
	interval time.Duration
	last     time.Time
	pending  bool
}

// trigger notes a trigger and tells whether it passes now.
func (p *pacer) trigger(now time.Time) bool {
	p.pending = true
	return p.due(now)
}

// due tells whether a trigger passes now; it passes only once.
func (p *pacer) due(now time.Time) bool {
	if !p.pending || (!p.last.IsZero() && now.Sub(p.last) < p.interval) {
		return false
	}
	p.pending, p.last = false, now
	return true
}

// wait is how long until the pending trigger is due; false when there is none.
func (p *pacer) wait(now time.Time) (time.Duration, bool) {
	return max(p.last.Add(p.interval).Sub(now), 0), p.pending
}

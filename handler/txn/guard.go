package txn

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Confirm is the guard that a person is: asked last, after every other one has
// passed, since only then the node can be looked at.
const Confirm = "confirm"

// Guard is a probe that a change names itself: it must pass whether it passed
// before or not.
type Guard struct {
	// Name of the probe, such as "ping 192.0.2.1".
	Name string `json:"name"`
	// Timeout is how long after the apply it may take to pass.
	Timeout time.Duration `json:"timeoutNanoseconds"`
	// Interval between two tries; zero leaves it to whoever probes.
	Interval time.Duration `json:"intervalNanoseconds,omitempty"`
}

// Timeout is how long after the apply a guard may take to pass.
func (c Change) Timeout(name string) time.Duration {
	for _, guard := range c.Probes {
		if guard.Name == name {
			return guard.Timeout
		}
	}
	return c.Window
}

// longest is the time after which every probe has passed or is lost.
func (c Change) longest() time.Duration {
	longest := c.Window
	for _, guard := range c.Probes {
		longest = max(longest, guard.Timeout)
	}
	return longest
}

// guards of the change, in the order in which they are told: the default ones
// that passed before, its own, a person.
func (c Change) guards(passed []string) []string {
	var names []string
	if !c.DropDefaults {
		names = slices.Sorted(slices.Values(passed))
	}
	for _, guard := range c.Probes {
		names = append(names, guard.Name)
	}
	if c.Confirm > 0 {
		names = append(names, Confirm)
	}
	return names
}

// Deadline is when a guard of the trial is lost unless it passed.
func (s State) Deadline(name string) time.Time {
	if name == Confirm {
		return s.Until
	}
	return s.Began.Add(s.Change.Timeout(name))
}

// AwaitsConfirmation tells whether every other guard has passed and only a
// person is waited for, until s.Until.
func (s State) AwaitsConfirmation() bool {
	return s.Phase == Probing && slices.Equal(s.Waiting, []string{Confirm})
}

// trial begins the wait for the guards, the person excepted.
func (s State) trial(at time.Time) (State, []Effect) {
	s.Began = at
	s.Waiting = append(without(s.Guards, Confirm), ReadBack, Foreign)
	s.LostProbes = map[string]string{}
	s.Until = s.nextDeadline()
	return s.to(Probing), []Effect{Probe{Names: slices.Clone(s.Waiting)}}
}

// proven is a trial whose probes all passed: it is committed, unless a person
// has the last word.
func (s State) proven(at time.Time) (State, []Effect) {
	if s.Change.Confirm > 0 {
		s.Waiting = []string{Confirm}
		s.Until = at.Add(s.Change.Confirm)
		return s, nil
	}
	return s.commit()
}

func (s State) commit() (State, []Effect) {
	s.Proven, s.Waiting, s.Until = true, nil, time.Time{}
	return s.to(Committing), []Effect{Commit{}}
}

func (s State) nextDeadline() time.Time {
	var next time.Time
	for _, name := range s.Waiting {
		if deadline := s.Deadline(name); next.IsZero() || deadline.Before(next) {
			next = deadline
		}
	}
	return next
}

// overdue gives up those whose time is over and who have not said so.
func (s State) overdue(at time.Time) State {
	lost := map[string]string{}
	for _, name := range s.Waiting {
		if message, ended := s.LostProbes[name]; ended {
			lost[name] = message
		} else if !at.Before(s.Deadline(name).Add(probeGrace)) {
			lost[name] = name + ": no answer"
		}
	}
	s.LostProbes = lost
	return s
}

// probesLost is final for the change (trying again is another outage), unless
// only the read-back disagreed: then no connectivity was lost.
func (s State) probesLost() (State, []Effect) {
	var lines []string
	var probed time.Duration
	final := false
	for _, name := range s.Waiting {
		message, lost := s.LostProbes[name]
		if !lost {
			continue
		}
		lines = append(lines, message)
		probed = max(probed, s.Change.Timeout(name))
		final = final || name != ReadBack
	}
	return s.takeBack(Cause{Message: fmt.Sprintf("probing for %s: %s", probed, strings.Join(lines, "; ")), Final: final})
}

// notConfirmed is final like a lost probe: whoever did not confirm may have
// been cut off.
func (s State) notConfirmed() (State, []Effect) {
	return s.takeBack(Cause{Message: fmt.Sprintf("not confirmed within %d s", s.Change.Confirm/time.Second), Final: true})
}

func (s State) takeBack(cause Cause) (State, []Effect) {
	s.Cause = &cause
	next, effects := s.undo()
	return next, append([]Effect{StopProbes{}}, effects...)
}

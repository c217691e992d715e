package oracle

import "time"

const (
	// lookEvery is how often it is looked whether everything is done, and calm how
	// long it must have been.
	lookEvery = 10 * time.Second
	calm      = time.Minute
)

// Settle lets everything come to an end by the time, counted from the run's
// start, and looks at what must hold then. until lets the run go on until a time; its
// error ends the settling.
func (s *Set) Settle(by time.Duration, until func(time.Duration) error) error {
	for done := time.Duration(0); done < calm && s.facts.Elapsed() < by; done += lookEvery {
		if err := until(s.facts.Elapsed() + lookEvery); err != nil {
			return err
		}
		if len(s.Pending()) > 0 {
			done = 0
		}
	}
	return s.AtRest()
}

// Still lets time pass in which nothing may be written, and no host may change.
func (s *Set) Still(long time.Duration, until func(time.Duration) error) error {
	s.Tell(Event{What: Quiet{}})
	if err := until(s.facts.Elapsed() + long); err != nil {
		return err
	}
	s.Tell(Event{What: Quiet{Over: true}})
	return until(s.facts.Elapsed())
}

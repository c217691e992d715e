package oracle

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

const (
	// lookEvery is how often it is looked whether everything is done, and calm how
	// long it must have been at least: what the last fault held up on its way arrives
	// meanwhile (sim/fault: api-timeout, stale-reads), and is answered.
	lookEvery = 10 * time.Second
	calm      = latest + 30*time.Second
)

// Settle lets everything come to an end by the time, counted from the run's
// start, and looks at what must hold then. until lets the run go on until a time; its
// error ends the settling.
func (s *Set) Settle(by time.Duration, until func(time.Duration) error) error {
	undone := true
	for done := time.Duration(0); (undone || done < s.facts.calm()) && s.facts.Elapsed() < by; done += lookEvery {
		looked := s.facts.Elapsed()
		if err := until(looked + lookEvery); err != nil {
			return err
		}
		undone = len(s.Pending()) > 0
		if s.facts.granted >= looked || undone && len(s.facts.pendingBut(s.facts.triesAgain)) > 0 {
			done = 0
		}
	}
	return s.AtRest()
}

// calm is how long everything must have been done. Where nodes have finished and the rest
// waits for one that nobody manages, that one is granted its turn after a soak.
func (f *Facts) calm() time.Duration {
	long := calm
	f.Each(&v1.NodeNetworkConfigurationPolicy{}, func(o client.Object) {
		if rules := o.(*v1.NodeNetworkConfigurationPolicy).Spec.Rollout; rules != nil {
			long = max(long, time.Duration(rules.SoakSeconds)*time.Second+lookEvery)
		}
	})
	return long
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

package txn

import "testing"

// A change begins in the end, whether or not something has answered before.
func TestSilenceIsWaitedForNoLongerThanThis(t *testing.T) {
	for sentence, c := range map[string]struct {
		answered bool
		want     int
	}{
		"a minute where nothing has answered": {false, maxSilences},
		"five minutes where something has":    {true, maxSilencesAnswered},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, _ := Step(State{}, Wanted{Change{Hash: "h", Generation: 1}})
			waited := 0
			for ; s.Phase == Baseline && waited <= 2*c.want; waited++ {
				s, _ = Step(s, BaselineMeasured{Silent: []string{"api-server"}, Answered: c.answered})
			}
			if s.Phase != Arming || waited != c.want+1 {
				t.Errorf("%s after %d measurements, want %d", s.Phase, waited, c.want+1)
			}
		})
	}
}

package idle

import (
	"testing"
	"time"
)

func TestDamping(t *testing.T) {
	ended := time.Unix(10000, 0)
	damping := Damping{}.OrDefault()
	for name, c := range map[string]struct {
		past  Correction
		found time.Duration // After the end of the last correction.
		want  time.Duration // Likewise; with a tenth of tolerance for jitter.
	}{
		"the first correction is due at once":                               {Correction{}, 0, 0},
		"the second one after ten seconds":                                  {Correction{Times: 1}, time.Second, 10 * time.Second},
		"the third one after twenty":                                        {Correction{Times: 2}, time.Second, 20 * time.Second},
		"it never waits longer than an hour":                                {Correction{Times: 30}, time.Second, time.Hour},
		"what stayed right for an hour is corrected at once":                {Correction{Times: 30}, time.Hour, time.Hour},
		"what stayed right for less is not":                                 {Correction{Times: 30}, 59 * time.Minute, time.Hour},
		"one that lost nothing is tried again as the damping says":          {Correction{Times: 1, Failures: 1}, -time.Second, 10 * time.Second},
		"one that lost a probe after ten minutes":                           {Correction{Times: 1, Failures: 1, Lost: true}, -time.Second, 10 * time.Minute},
		"the second loss in a row after twenty":                             {Correction{Times: 2, Failures: 2, Lost: true}, -time.Second, 20 * time.Minute},
		"many losses in a row after a day":                                  {Correction{Times: 20, Failures: 20, Lost: true}, -time.Second, 24 * time.Hour},
		"a loss is not forgotten because the drift is found anew meanwhile": {Correction{Times: 20, Failures: 20, Lost: true}, 2 * time.Hour, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if c.past.Times > 0 {
				c.past.Ended = ended
			}
			got := damping.due(c.past, ended.Add(c.found), Backoff{}, "node1").Sub(ended)
			if got < c.want || got > c.want+c.want/10 {
				t.Fatalf("due %s after the last one, want %s", got, c.want)
			}
		})
	}
}

func TestCorrectionsAreCountedUntilTheThingStaysRight(t *testing.T) {
	damping, now := Damping{}.OrDefault(), time.Unix(10000, 0)
	var past Correction
	for i, c := range []struct {
		quiet    time.Duration
		message  string
		times    int32
		failures int32
	}{
		{time.Hour, "", 1, 0},
		{time.Second, "", 2, 0},
		{time.Second, "probing: api-server", 3, 1},
		{time.Second, "probing: api-server", 4, 2},
		{time.Second, "", 5, 0},
		{2 * time.Hour, "", 1, 0},
	} {
		found := now.Add(c.quiet)
		now = found.Add(time.Second)
		past = damping.counted(past, found, CorrectionEnded{At: now, Message: c.message, Lost: c.message != ""})
		if past.Times != c.times || past.Failures != c.failures {
			t.Fatalf("after correction %d: %+v", i, past)
		}
	}
}

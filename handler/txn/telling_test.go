package txn

import (
	"testing"
	"time"
)

func TestWhenOthersAreToldOfARunningTransaction(t *testing.T) {
	begun := time.Unix(1000, 0)
	at := func(after time.Duration) time.Time { return begun.Add(after) }
	probing := func(waiting ...string) Progress { return Progress{Phase: Probing, Waiting: waiting} }
	asking := func(until time.Duration) Progress {
		return Progress{Phase: Probing, Waiting: []string{Confirm}, ConfirmUntil: at(until)}
	}
	fresh := NewTelling(begun)
	tried := func(p Progress, after time.Duration) Telling { return fresh.See(p, at(after)).Try(at(after)) }
	told := func(p Progress, after time.Duration) Telling { return tried(p, after).Told() }
	for sentence, c := range map[string]struct {
		telling Telling
		// now is what there is to tell, since seen; at is when it is asked.
		now      Progress
		seen, at time.Duration
		wait     time.Duration
		due      bool
	}{
		"nothing runs":                        {fresh, Progress{Phase: Idle}, 0, time.Hour, 0, false},
		"it has just begun":                   {fresh, Progress{Phase: Baseline}, 0, 0, 2 * time.Second, true},
		"it has run for a second":             {fresh, probing("dns"), 0, time.Second, time.Second, true},
		"it has run for two seconds":          {fresh, probing("dns"), 0, 2 * time.Second, 0, true},
		"a guard has passed in the second":    {fresh, probing("dns"), 1900 * time.Millisecond, 2 * time.Second, 0, true},
		"a person is asked, however early":    {fresh, asking(time.Hour), 0, time.Millisecond, 0, true},
		"they know it":                        {told(probing("dns"), 2*time.Second), probing("dns"), 0, time.Hour, 0, false},
		"a guard has passed right after":      {told(probing("api", "dns"), 2*time.Second), probing("dns"), 2500 * time.Millisecond, 3 * time.Second, time.Second, true},
		"a guard has passed long after":       {told(probing("api", "dns"), 2*time.Second), probing("dns"), time.Minute, time.Minute, time.Second, true},
		"and that has lasted":                 {told(probing("api", "dns"), 2*time.Second), probing("dns"), time.Minute, 61 * time.Second, 0, true},
		"the phase is another one":            {told(probing("dns"), 2*time.Second), Progress{Phase: RollingBack}, 30 * time.Second, time.Minute, 0, true},
		"it is as it was told, once more":     {told(probing("dns"), 2*time.Second).See(Progress{Phase: Committing}, at(time.Minute)), probing("dns"), 61 * time.Second, time.Hour, 0, false},
		"a person is asked right after":       {told(probing("dns"), 2*time.Second), asking(time.Hour), 2 * time.Second, 2 * time.Second, 0, true},
		"a person was asked":                  {told(asking(time.Hour), time.Second), asking(time.Hour), time.Second, time.Minute, 0, false},
		"a person is asked for another time":  {told(asking(time.Hour), time.Second), asking(2 * time.Hour), time.Second, time.Second, 0, true},
		"an attempt has failed just now":      {tried(probing("dns"), 2*time.Second), probing("dns"), 0, 2 * time.Second, 2 * time.Second, true},
		"an attempt has failed long ago":      {tried(probing("dns"), 2*time.Second), probing("dns"), 0, time.Minute, 0, true},
		"a person could not be asked":         {tried(asking(time.Hour), time.Second), asking(time.Hour), time.Second, time.Second, 2 * time.Second, true},
		"many attempts have failed":           {failed(fresh, probing("dns"), 10, at(time.Hour)), probing("dns"), 0, time.Hour, time.Minute, true},
		"and then a person is asked, in vain": {failed(failed(fresh, probing("dns"), 10, at(time.Hour)), asking(2*time.Hour), 1, at(time.Hour)), asking(2 * time.Hour), time.Hour, time.Hour, 2 * time.Second, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			wait, due := c.telling.See(c.now, at(c.seen)).Due(at(c.at))
			if wait != c.wait || due != c.due {
				t.Errorf("due %v in %s, want %v in %s", due, wait, c.due, c.wait)
			}
		})
	}
}

// failed has as many attempts, all at the same time.
func failed(telling Telling, p Progress, times int, at time.Time) Telling {
	telling = telling.See(p, at)
	for range times {
		telling = telling.Try(at)
	}
	return telling
}

func TestAnHourOfARestlessTransactionIsToldAtMostSeventyTimes(t *testing.T) {
	for sentence, reached := range map[string]bool{"while the API server answers": true, "while it does not": false} {
		t.Run(sentence, func(t *testing.T) {
			begun := time.Unix(1000, 0)
			telling, tries := NewTelling(begun), 0
			for after := time.Duration(0); after < time.Hour; after += 100 * time.Millisecond {
				now := begun.Add(after)
				progress := Progress{Phase: RollingBack}
				if after/(2*time.Second)%2 == 0 {
					progress.Phase = Settling
				}
				telling = telling.See(progress, now)
				if wait, due := telling.Due(now); !due || wait > 0 {
					continue
				}
				tries++
				if telling = telling.Try(now); reached {
					telling = telling.Told()
				}
			}
			if tries < 60 || tries > 70 {
				t.Errorf("%d attempts", tries)
			}
		})
	}
}

func TestWhatIsToldOfATransaction(t *testing.T) {
	until := time.Unix(2000, 0)
	for sentence, c := range map[string]struct {
		state State
		want  Progress
	}{
		"none runs":              {State{}, Progress{Phase: Idle}},
		"it applies":             {State{Phase: Applying, Guards: []string{"dns"}}, Progress{Phase: Applying}},
		"guards are out, sorted": {State{Phase: Probing, Waiting: []string{ReadBack, "api"}, Until: until}, Progress{Phase: Probing, Waiting: []string{"api", ReadBack}}},
		"only a person is out": {
			State{Phase: Probing, Waiting: []string{Confirm}, Until: until}, Progress{Phase: Probing, Waiting: []string{Confirm}, ConfirmUntil: until},
		},
		"the next try to get back is waited for": {State{Phase: RollingBack, Until: until}, Progress{Phase: RollingBack}},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := c.state.Progress(); !got.Equal(c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

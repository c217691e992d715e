package idle

import (
	"testing"
	"time"
)

func TestNewsAreToldOnceTheyAreRipeAndPaidFor(t *testing.T) {
	now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return now.Add(time.Duration(seconds * float64(time.Second))) }
	for sentence, c := range map[string]struct {
		news News
		now  time.Time
		wait float64
		none bool
	}{
		"a node without news has nothing to tell":                  {news: News{}, now: now, none: true},
		"what differs is told a second after it was seen":          {news: News{}.Seen(true, now), now: now, wait: 1},
		"what still differs does not wait anew":                    {news: News{}.Seen(true, now).Seen(true, at(0.5)), now: at(0.5), wait: 0.5},
		"what has waited its second is told":                       {news: News{}.Seen(true, now), now: at(7)},
		"what does not differ any more is not told":                {news: News{}.Seen(true, now).Seen(false, at(0.5)), now: at(0.5), none: true},
		"what was told is told":                                    {news: News{}.Seen(true, now).Told(5000, at(1)), now: at(1), none: true},
		"a small report after another one waits for nothing else":  {news: News{}.Told(50000, now).Seen(true, at(1)), now: at(1), wait: 1},
		"a large one waits until what was told is nearly paid for": {news: News{}.Told(250000, now).Seen(true, at(1)), now: at(1), wait: 19},
		"many small ones wait as a large one does":                 {news: News{}.Told(125000, now).Told(125000, at(5)).Seen(true, at(6)), now: at(6), wait: 14},
		"a quiet time saves nothing up":                            {news: News{}.Told(250000, now).Told(250000, at(3600)).Seen(true, at(3601)), now: at(3601), wait: 19},
		"no report waits more than a minute for the last one":      {news: News{}.Told(500000, now).Told(500000, at(60)).Seen(true, at(61)), now: at(61), wait: 59},
		"a debt is forgiven":                                       {news: News{}.Told(500000, now).Told(500000, at(60)).Told(500000, at(120)).Seen(true, at(150)), now: at(150), wait: 30},
		"by a clock that was set back after the last report":       {news: News{}.Told(500000, now).Seen(true, at(-300)), now: at(-300), wait: 1},
		"by a clock that was set back it is told":                  {news: News{}.Told(500000, now).Seen(true, at(3)), now: at(-3600)},
	} {
		t.Run(sentence, func(t *testing.T) {
			wait, news := c.news.Wait(c.now)
			if want := time.Duration(c.wait * float64(time.Second)); wait != want || news == c.none {
				t.Errorf("wait %s, news %v; want %s, %v", wait, news, want, !c.none)
			}
		})
	}
}

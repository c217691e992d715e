package deadline_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
)

func TestWaitEndsByWhatComesFirst(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	news := make(chan struct{}, 1)
	news <- struct{}{}
	wall := deadline.On(clock.RealClock{})
	tests := map[string]struct {
		ctx  context.Context
		news chan struct{}
		d    time.Duration
		want bool
	}{
		"the time":                          {t.Context(), nil, time.Nanosecond, true},
		"news, of which it takes one":       {t.Context(), news, time.Hour, true},
		"a context that has ended":          {ended, nil, time.Hour, false},
		"a context that ended before the d": {ended, nil, 0, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := wall.Wait(test.ctx, test.news, test.d); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if len(news) != 0 {
		t.Error("the news are still there")
	}
}

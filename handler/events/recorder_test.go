package events

import (
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
)

// counted counts what it is told.
type counted struct{ events int }

func (c *counted) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) { c.events++ }

func TestSoManyEventsInAnHour(t *testing.T) {
	const hourly = 60
	for sentence, tt := range map[string]struct {
		tells int
		every time.Duration
		sent  int
		logs  int
	}{
		"few are all sent":                            {tells: hourly, every: time.Second, sent: hourly},
		"at once twice as many":                       {tells: 10 * hourly, sent: 2 * hourly, logs: 1},
		"one a minute goes on for ever":               {tells: 20 * hourly, every: time.Minute, sent: 20 * hourly},
		"of one a second, one a minute after a while": {tells: 3600, every: time.Second, sent: 2*hourly + hourly - 1, logs: 6},
	} {
		t.Run(sentence, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
			var logs []string
			to := &counted{}
			r := New(to, hourly, clock, funcr.New(func(_, line string) { logs = append(logs, line) }, funcr.Options{}))
			for range tt.tells {
				r.Eventf(nil, nil, "Normal", "Configured", "Configure", "")
				clock.SetTime(clock.Now().Add(tt.every))
			}
			if to.events != tt.sent || len(logs) != tt.logs {
				t.Errorf("%d sent, want %d; %d lines of log, want %d", to.events, tt.sent, len(logs), tt.logs)
			}
			for _, line := range logs {
				if !strings.Contains(line, "Too many events") || !strings.Contains(line, `"last"="Configured"`) {
					t.Error(line)
				}
			}
		})
	}
}

package events

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
)

// Bounds of a program's events: so many in an hour, and twice as many at once.
const (
	// OfNode is for the handler of one node, with its 1,000 policies.
	OfNode = 1_000
	// OfCluster is for the controllers, which in centralized mode speak for every node.
	OfCluster = 10_000
)

// logEvery is how often it is logged that events are left out.
const logEvery = 10 * time.Minute

// Recorder passes events on as long as there are not too many.
type Recorder struct {
	to    events.EventRecorder
	clock clock.PassiveClock
	log   logr.Logger

	mu      sync.Mutex
	limit   *rate.Limiter
	left    int
	lastLog time.Time
}

var _ events.EventRecorder = (*Recorder)(nil)

// New returns a Recorder of hourly events in an hour.
func New(to events.EventRecorder, hourly int, clock clock.PassiveClock, log logr.Logger) *Recorder {
	return &Recorder{to: to, clock: clock, log: log, limit: rate.NewLimiter(rate.Every(time.Hour/time.Duration(hourly)), 2*hourly)}
}

// Eventf implements the recorder of client-go.
func (r *Recorder) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	if r.may(reason) {
		r.to.Eventf(regarding, related, eventtype, reason, action, note, args...)
	}
}

// may takes one of the events that are left in the hour.
func (r *Recorder) may(reason string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.Now()
	if r.limit.AllowN(now, 1) {
		return true
	}
	r.left++
	if now.Sub(r.lastLog) >= logEvery {
		r.log.Info("Too many events: some are not sent", "leftOut", r.left, "last", reason)
		r.left, r.lastLog = 0, now
	}
	return false
}

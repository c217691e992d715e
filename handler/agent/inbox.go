package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/event"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// inbox holds what happened since the last turn.
type inbox struct {
	// dirty: the node's network may differ from what was last reported.
	dirty atomic.Bool
	// changes of the network that were told so far.
	changes atomic.Int64

	mu     sync.Mutex
	events []letter
	// calm is when differences count as drift again.
	calm time.Time
}

// letter is an event and the task that it comes from; task 0 is the node itself.
type letter struct {
	task  int
	event txn.Event
	// entry is what the journal shall hold from this event on; nil: no change.
	entry *journal.Entry
	// shown is the node's state as it was read with the event; nil: it was not.
	shown *reading
	// toCome says what of the change was not there yet, one line each; nil: nobody looked.
	toCome *[]string
	// notVerified says what of the change could not be proved, one line each.
	notVerified []string
}

// reading is a state that was read, with where NetworkManager's devices stood, and how
// many changes of the network had been told before it was: those told since may not be in it.
type reading struct {
	state   state.State
	devices []profiles.Device
	changes int64
}

func (i *inbox) put(l letter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.events = append(i.events, l)
}

// take returns the next event that still counts: of the node, or of the task
// that is current.
func (i *inbox) take(current int) (letter, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for len(i.events) > 0 {
		next := i.events[0]
		i.events = i.events[1:]
		if next.task == 0 || next.task == current {
			return next, true
		}
	}
	return letter{}, false
}

// changed notes one more change of the network.
func (i *inbox) changed() {
	i.changes.Add(1)
	i.dirty.Store(true)
}

// disturbed notes that nothing counts as drift until then.
func (i *inbox) disturbed(until time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.calm = until
}

func (i *inbox) calmAt() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calm
}

// tasks runs at most one task (with its parts) for the machine at a time.
type tasks struct {
	mu     sync.Mutex
	number int
	cancel context.CancelFunc
}

// begin ends the task that runs and makes its answers void.
func (t *tasks) begin(ctx context.Context) (context.Context, int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
	t.number++
	ctx, t.cancel = context.WithCancel(ctx)
	return ctx, t.number
}

// kill ends the task that runs; its answer still counts.
func (t *tasks) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
	}
}

// stop ends the task that runs and makes its answers void.
func (t *tasks) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
	t.number++
}

func (t *tasks) current() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number
}

// send tells what happened and asks for a turn.
func (a *Agent) send(l letter) {
	a.inbox.put(l)
	a.poke()
}

func (a *Agent) poke() {
	object := &v1.NodeNetworkState{}
	object.Name = a.Node
	select {
	case a.manager <- event.GenericEvent{Object: object}:
	default: // A turn is asked for already.
	}
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// NetworkChanged tells the agent that the node's network may have changed.
func (a *Agent) NetworkChanged() {
	a.inbox.changed()
	a.poke()
}

// NetworkManagerRestarted tells the agent that NetworkManager went or came
// back: its checkpoints are lost.
func (a *Agent) NetworkManagerRestarted() {
	a.inbox.changed()
	a.inbox.disturbed(a.Clock.Now().Add(a.Damping.OrDefault().Calm))
	a.send(letter{event: txn.CheckpointLost{}})
}

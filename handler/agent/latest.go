package agent

import (
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// reads are what was read of the node and serves once more.
type reads struct {
	// shown is what a change has read back; nil once it was reported, or may be gone.
	shown *reading
	// latest is what was read last of the node as it rests; nil for nothing.
	latest *latest
	// next is when the node is read again at the earliest, whatever is heard of it.
	next time.Time
}

const (
	// readShare is how much of its time a node that changes all the time is read: a tenth.
	readShare = 10
	// readPause is the longest time between two reads of such a node.
	readPause = 30 * time.Second
)

// took notes how long a read took.
func (r *reads) took(begun, now time.Time) {
	r.next = now.Add(min((readShare-1)*now.Sub(begun), readPause))
}

// wait is how long the node is not read again; zero by a clock that was set back.
func (r *reads) wait(now time.Time) time.Duration {
	wait := r.next.Sub(now)
	if wait < 0 || wait > readPause {
		return 0
	}
	return wait
}

// hear takes what was read with an event.
func (r *reads) hear(l letter) {
	if l.shown != nil {
		r.shown = l.shown
	}
}

// back is what was read back, once.
func (r *reads) back() *reading {
	shown := r.shown
	r.shown = nil
	return shown
}

// latest is a state that was read, and what had been heard of the network before.
type latest struct {
	state state.State
	heard uint64
}

// note is for a read that begins: it is nil where nobody listens to all that is told.
func (a *Agent) note() *latest {
	if a.Heard == nil {
		return nil
	}
	if heard, whole := a.Heard(); whole {
		return &latest{heard: heard}
	}
	return nil
}

// of is what was noted, with what was read since.
func (l *latest) of(read state.State) *latest {
	if l == nil {
		return nil
	}
	return &latest{read, l.heard}
}

// unchanged is the node as a change finds it, where that is known: it was read, nothing has
// been heard of the network since, and nothing that the change is about changes unheard. A
// node with 1,500 interfaces takes 8 seconds to read. Nil: it must be read.
func (r *reads) unchanged(change []byte, now *latest) *state.State {
	known := r.latest
	r.latest = nil // What a change leaves is read anew.
	if known == nil || now == nil || known.heard != now.heard {
		return nil
	}
	desired, err := state.Parse(change)
	if err != nil || !state.IsTold(desired, known.state) {
		return nil
	}
	return &known.state
}

package world

import (
	"container/heap"
	"time"
)

// Event is something that will happen.
type Event struct {
	at       time.Duration
	sequence uint64
	process  *Process // nil: the world's own
	action   func()
	index    int
	queue    *timeline
}

// Stop makes it not happen; it tells whether it was still to happen.
func (e *Event) Stop() bool {
	if e == nil || e.queue == nil {
		return false
	}
	heap.Remove(e.queue, e.index)
	return true
}

// timeline is a heap of events by time, then by the order of their making.
type timeline []*Event

func (t *timeline) add(e *Event) {
	e.queue = t
	heap.Push(t, e)
}

func (t *timeline) first() *Event {
	if len(*t) == 0 {
		return nil
	}
	return (*t)[0]
}

func (t *timeline) take() *Event { return heap.Pop(t).(*Event) }

// Len, Less, Swap, Push and Pop are for container/heap.
func (t *timeline) Len() int { return len(*t) }

func (t *timeline) Less(i, j int) bool {
	a, b := (*t)[i], (*t)[j]
	if a.at != b.at {
		return a.at < b.at
	}
	return a.sequence < b.sequence
}

func (t *timeline) Swap(i, j int) {
	(*t)[i], (*t)[j] = (*t)[j], (*t)[i]
	(*t)[i].index, (*t)[j].index = i, j
}

func (t *timeline) Push(x any) {
	e := x.(*Event)
	e.index = len(*t)
	*t = append(*t, e)
}

func (t *timeline) Pop() any {
	old := *t
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*t = old[:len(old)-1]
	last.queue = nil
	return last
}

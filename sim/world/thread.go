package world

import "iter"

// thread is what a coroutine runs on. It is kept for the next one when a
// coroutine has ended: making a thread, and growing its stack to what a turn of
// a reconciler needs, would cost a tenth of a run.
type thread struct {
	// next lets what runs go on until it parks, or until its task is over.
	next func() (struct{}, bool)
	// stop has what is parked unwind. The thread is of no use any more.
	stop  func()
	yield func(struct{}) bool
	// task that runs, nil when it is over.
	task func()
}

// thread gives a task something to run on.
func (w *World) thread(task func()) *thread {
	if last := len(w.threads) - 1; last >= 0 {
		t := w.threads[last]
		w.threads = w.threads[:last]
		t.task = task
		return t
	}
	t := &thread{task: task}
	t.next, t.stop = iter.Pull(t.run)
	return t
}

// run does one task after another; it parks where it has none.
func (t *thread) run(yield func(struct{}) bool) {
	t.yield = yield
	for {
		t.task()
		t.task = nil
		if !yield(struct{}{}) {
			return
		}
	}
}

// goOn until the task parks. It tells whether there is more of it to come.
func (t *thread) goOn() bool {
	_, alive := t.next()
	return alive && t.task != nil
}

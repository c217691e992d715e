package apiserver

import (
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Bounds of the time from one try to list or watch to the next, as client-go
// has them; up to as much again is drawn on top.
const (
	firstBackoff = 800 * time.Millisecond
	lastBackoff  = 30 * time.Second
)

// stream is how a view hears of the server.
type stream struct {
	// watching: the server sends changes. queue are those under way.
	watching bool
	queue    []delivery
	// listed is a list under way; nil for none.
	listed *snapshot
	pump   *world.Event
	// waits counts the tries in a row that did not get across, since when.
	waits int
	since time.Duration
	// mended: the next delivery is the first after a broken watch. anew: it
	// begins with a list.
	mended, anew bool
}

// delivery is a change on its way.
type delivery struct {
	change

	due time.Duration
}

type snapshot struct {
	objects map[string]client.Object
	first   bool
}

func (v *view) start() {
	if v.pump == nil && !v.watching {
		v.anew = true
		v.after(0)
	}
}

func (v *view) stop() {
	v.table.views.remove(v)
	v.pump.Stop()
}

func (v *view) after(d time.Duration) {
	v.pump.Stop()
	v.pump = v.cache.connection.process.After(d, v.turn)
}

func (v *view) delay() time.Duration {
	s := v.cache.connection.store
	if s.Faults.Delay != nil {
		return s.Faults.Delay(v.cache.connection.process.Name, v.table.kind.name)
	}
	return s.between(time.Millisecond, 5*time.Millisecond)
}

// push puts a change on its way, behind those before it.
func (v *view) push(c change) {
	if !v.selects(c.before) && !v.selects(c.after) {
		return
	}
	now := v.cache.connection.store.world.Elapsed()
	due := now + v.delay()
	if n := len(v.queue); n > 0 {
		due = max(due, v.queue[n-1].due)
	}
	v.queue = append(v.queue, delivery{c, due})
	if v.pump == nil && v.listed == nil {
		v.after(due - now)
	}
}

// hurry lets what is under way arrive as it would without what delayed it.
func (v *view) hurry() {
	if v.listed != nil && v.waits == 0 {
		v.after(v.delay())
	}
	if len(v.queue) == 0 {
		return
	}
	now := v.cache.connection.store.world.Elapsed()
	due := now
	for i := range v.queue {
		due += v.delay()
		v.queue[i].due = min(v.queue[i].due, due)
	}
	if v.waits == 0 && v.listed == nil && !v.anew && !v.mended { // Otherwise it waits for something else.
		v.after(v.queue[0].due - now)
	}
}

// turn does what is next in the stream, if the network carries it.
func (v *view) turn() {
	v.pump = nil
	connection := v.cache.connection
	if !connection.up() {
		v.blocked()
		return
	}
	if v.waits > 0 && v.broken() {
		v.mended = true
		v.anew = v.anew || v.compacted()
	}
	v.waits = 0
	switch {
	case v.anew:
		v.list()
	case v.listed != nil:
		v.install()
	case v.breaks():
		return
	default:
		v.deliver()
	}
	v.next()
}

// next waits for what is under way.
func (v *view) next() {
	if v.pump == nil && v.listed == nil && len(v.queue) > 0 {
		v.after(v.queue[0].due - v.cache.connection.store.world.Elapsed())
	}
}

// blocked tries again later: soon while the connection holds, as TCP sends
// again, and then as client-go does.
func (v *view) blocked() {
	now := v.cache.connection.store.world.Elapsed()
	if v.waits == 0 {
		v.since = now
	}
	v.waits++
	if v.broken() || v.anew {
		backoff := min(firstBackoff<<min(v.waits, 10), lastBackoff)
		v.after(backoff + v.cache.connection.store.between(0, backoff))
		return
	}
	v.after(min(firstResend<<min(v.waits-1, 10), lastResend))
}

func (v *view) broken() bool {
	return v.cache.connection.store.world.Elapsed()-v.since >= v.cache.connection.LostAfter
}

// compacted tells whether the server has forgotten what the view lacks.
func (v *view) compacted() bool {
	return len(v.queue) > 0 && v.queue[0].at < v.cache.connection.store.world.Elapsed()-Compaction
}

// breaks asks whether the watch ends before the next delivery.
func (v *view) breaks() bool {
	faults := v.cache.connection.store.Faults
	if v.mended || faults.Break == nil {
		v.mended = false
		return false
	}
	outage, compacted := faults.Break(v.cache.connection.process.Name, v.table.kind.name)
	if outage <= 0 {
		return false
	}
	v.mended, v.anew = true, compacted
	v.after(outage)
	return true
}

func (v *view) request(verb string) {
	c := v.cache.connection
	c.store.count(Request{Process: c.process.Name, Verb: verb, Kind: v.table.kind.name})
}

// list takes what the server has, which arrives later, and watches from there.
func (v *view) list() {
	v.anew, v.mended = false, false
	v.request("list")
	v.request("watch")
	first := !v.watching
	if first {
		v.watching = true
		v.table.views.add(v)
	}
	v.queue = nil
	objects, later := v.table.at(v.age(first), v)
	v.listed = &snapshot{objects: objects, first: first && !v.live}
	due := v.cache.connection.store.world.Elapsed() + v.delay()
	for _, c := range later {
		due += v.delay()
		v.queue = append(v.queue, delivery{c, due})
	}
	v.after(v.delay())
}

// age is since when the list that is shown is out of date.
func (v *view) age(first bool) time.Duration {
	s := v.cache.connection.store
	if !first || s.Faults.Stale == nil {
		return s.world.Elapsed()
	}
	return s.world.Elapsed() - s.Faults.Stale(v.cache.connection.process.Name, v.table.kind.name)
}

// at is what there was of the table at a time, as far as it is known, and what
// changed since.
func (t *table) at(time time.Duration, v *view) (map[string]client.Object, []change) {
	objects := t.now(v)
	from := len(t.log)
	for from > 0 && t.log[from-1].at > time {
		from--
		c := t.log[from]
		delete(objects, c.name())
		if v.selects(c.before) {
			objects[c.name()] = c.before
		}
	}
	var later []change
	for _, c := range t.log[from:] {
		if v.selects(c.before) || v.selects(c.after) {
			later = append(later, c)
		}
	}
	return objects, later
}

// now is what the view selects.
func (t *table) now(v *view) map[string]client.Object {
	objects := map[string]client.Object{}
	switch {
	case v.name != "":
		if e := t.entries[v.name]; e != nil {
			objects[v.name] = e.object
		}
	case v.label != "":
		maps.Copy(objects, t.withLabel(v.label, v.value))
	default:
		for name, e := range t.entries {
			objects[name] = e.object
		}
	}
	return objects
}

// install shows a list: what came, what is another version, and what is gone.
func (v *view) install() {
	listed := v.listed
	v.listed = nil
	for _, name := range slices.Sorted(maps.Keys(listed.objects)) {
		o := listed.objects[name]
		if was := v.items[name]; was == nil || was.object.GetResourceVersion() != o.GetResourceVersion() {
			v.show(name, o, nil, listed.first)
		}
	}
	for _, i := range slices.Clone(v.order.items) {
		if listed.objects[i.name] == nil {
			v.show(i.name, nil, nil, false)
		}
	}
	v.live = true
}

// deliver shows the changes whose time has come.
func (v *view) deliver() {
	now := v.cache.connection.store.world.Elapsed()
	for len(v.queue) > 0 && v.queue[0].due <= now {
		c := v.queue[0].change
		v.queue[0] = delivery{}
		v.queue = v.queue[1:]
		after, last := c.after, c.last
		if after != nil && !v.selects(after) {
			after, last = nil, c.after // It left the selection.
		}
		v.show(c.name(), after, last, false)
	}
	if len(v.queue) == 0 {
		v.queue = nil
	}
}

package oracle

import (
	"slices"
	"time"
)

// Class is what a fault may excuse.
type Class int

// The classes.
const (
	// Moves: the host's network, or what is around it, changes by itself.
	Moves Class = 1 << iota
	// Restarts: NetworkManager or the node restarts, or a checkpoint ends early.
	Restarts
	// Hinders: the handler is kept from its work, or what it asks for is done
	// badly.
	Hinders
	// Stale: what the process knows of the API server is old, or wrong.
	Stale
	// Deceives: probes do not tell the truth.
	Deceives
	// Clock: the process's wall clock is wrong.
	Clock
	// Full: nothing can be written to the node's disk.
	Full
	// Mute: what the handler asks NetworkManager is not answered now and then.
	Mute

	lastClass = Mute
)

// classes of the faults of sim/fault, by their names. One that is not here
// excuses everything.
func classes() []excuse {
	return []excuse{
		{Moves, []string{"carrier-loss", "drift", "device-disconnected", "dhcp-late", "dhcp-gone", "gateway-gone", "dns-gone"}},
		{Restarts | Hinders, []string{"nm-restart", "nm-dies", "nm-dies-at-commit", "nm-hang", "checkpoint-expires", "apply-slow"}},
		{Moves | Restarts | Hinders | Stale, []string{"reboot", "power-cut"}},
		{Hinders | Stale, []string{"crash", "handler-gone", "crash-at-call", "two-handlers", "time-travel"}},
		{Hinders | Mute, []string{"backend-fails"}},
		{Hinders, []string{"apply-partial", "apply-late-error", "checkpoint-foreign", "device-stays-down"}},
		{Hinders | Full, []string{"disk-full"}},
		{Stale, []string{
			"stale-reads", "events-lost", "reply-lost", "api-errors", "api-refused", "api-timeout", "api-slow", "conflict-storm", "leader-change",
		}},
		{Clock, []string{"clock-jump"}},
		{0, []string{
			"node-added", "node-removed", "policy-edited", "policy-deleted", "node-not-ready", "node-set-aside",
			"edited-in-haste", "deleted-in-haste", "policy-renamed", "mode-switched", "label-moved", "written-by-hand", "node-lies",
		}},
	}
}

// excuse is what faults excuse.
type excuse struct {
	class  Class
	faults []string
}

func classesOf(kind string) Class {
	for _, e := range classes() {
		if slices.Contains(e.faults, kind) {
			return e.class
		}
	}
	return everything
}

const everything = Moves | Restarts | Hinders | Stale | Deceives | Clock | Full | Mute

// Controllers is the target of faults that are about the controllers.
const Controllers = "controllers"

// atWork are the faults at work, by target; the empty one is the cluster.
type atWork map[string]map[Class]spell

// spell is when faults of a class were at work.
type spell struct {
	active int
	last   time.Duration
	ever   bool
}

func (w atWork) note(target string, now time.Duration, f Fault) {
	if w[target] == nil {
		w[target] = map[Class]spell{}
	}
	for class := Moves; class <= lastClass; class <<= 1 {
		if classesOf(f.Kind)&class == 0 {
			continue
		}
		s := w[target][class]
		s.last, s.ever = now+f.trails(), true
		switch {
		case f.End:
			s.active--
		case f.On:
			s.active++
		}
		w[target][class] = s
	}
}

// latest is how long something stays on its way that a fault has held up (sim/fault:
// arguments of stale-reads; a request stays for less).
const latest = 2 * time.Minute

// trails is how long a fault is felt after its end: what was late arrives in its
// order, what comes after it waits, and what was not there comes.
func (f Fault) trails() time.Duration {
	switch f.Kind {
	case "stale-reads", "dhcp-late", "dhcp-gone": // Who asked in vain asks again.
		if f.End {
			return latest
		}
	}
	return 0
}

// last is when a fault of one of the classes was at work on the target or the
// cluster the last time: now, if one is.
func (w atWork) last(target string, now time.Duration, classes Class) (time.Duration, bool) {
	var last time.Duration
	ever := false
	for _, t := range []string{target, ""} {
		for class, s := range w[t] {
			if classes&class == 0 || !s.ever {
				continue
			}
			if s.active > 0 {
				return now, true
			}
			last, ever = max(last, s.last), true
		}
	}
	return last, ever
}

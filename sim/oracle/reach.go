package oracle

import (
	"fmt"
	"slices"
	"time"
)

// reach: no node stays cut off from its gateway or the API server by our change
// for longer than the checkpoint's life and a margin (design §6). What a node
// reached before a change it reaches again by then, unless something else has
// been at work since; then the time begins anew when that is over. So it does when
// the apply is done: nmstate gives the checkpoint its life anew then.
type reach struct{ owed map[string]*debt }

// debt is what a node must reach again.
type debt struct {
	targets []string
	due     time.Duration
	pending bool
}

// reachMargin is for the way back: a rollback that is tried again, NetworkManager
// that brings links up, DHCP.
const reachMargin = time.Minute

func newReach() *reach { return &reach{owed: map[string]*debt{}} }

func (*reach) Name() string { return "reach" }

func (r *reach) Observe(f *Facts, e Event) error {
	t := f.Node(e.Node).Trial
	switch what := e.What.(type) {
	case Fault:
		// What somebody takes away between two changes is no change's doing, and stays away
		// where no policy has it (design §2, rule 8).
		if d := r.owed[e.Node]; what.Kind == "device-disconnected" && d != nil && (t == nil || t.Ended != "") {
			d.targets = nil
		}
	case CheckpointMade:
		if t != nil && t.Made == e.At {
			r.begin(f, e, t)
		}
	case Applied:
		if d := r.owed[e.Node]; d != nil && t != nil && t.Applied == e.At {
			d.due = max(d.due, e.At+t.Life+reachMargin)
		}
	}
	return nil
}

func (r *reach) begin(f *Facts, e Event, t *Trial) {
	d := r.owed[e.Node]
	if t.dropsGuards() {
		if d != nil {
			d.targets = nil // What it cuts is wanted, and what was owed may be among it.
		}
		return
	}
	if d == nil {
		d = &debt{}
		r.owed[e.Node] = d
	}
	// What it reaches now is owed no more by what was before.
	d.targets = slices.DeleteFunc(d.targets, func(target string) bool { return t.Reached[target] })
	for _, target := range targets {
		// What was not measured before, since its probe lied or was late, is no guard.
		if t.Reached[target] && t.guardedBy(target) && !contains(d.targets, target) {
			d.targets = append(d.targets, target)
		}
	}
	d.due = e.At + t.Life + reachMargin
	r.look(f, e.Node, d)
}

// look comes back when it is due.
func (r *reach) look(f *Facts, node string, d *debt) {
	if d.pending {
		return
	}
	d.pending = true
	f.later(r, d.due-f.Elapsed(), node, func() error {
		d.pending = false
		return r.check(f, node, d)
	})
}

func (r *reach) check(f *Facts, node string, d *debt) error {
	now := f.Elapsed()
	if !f.Has(node) {
		d.targets = nil
		return nil
	}
	var cut []string
	for _, target := range d.targets {
		if !f.Reaches(node, target) {
			cut = append(cut, target)
		}
	}
	if len(cut) == 0 {
		d.targets = nil
		return nil
	}
	disturbed := f.Disturbed(node, everything)
	if t := f.Node(node).Trial; now < d.due || disturbed+t.life()+reachMargin > now {
		d.due = max(d.due, disturbed+t.life()+reachMargin, now+time.Second)
		r.look(f, node, d)
		return nil
	}
	return fmt.Errorf("a change has cut it off from %v, and it still is, %s after the checkpoint's end", cut, reachMargin) //nolint:err113 // For people.
}

func (t *Trial) guardedBy(probe string) bool {
	return t.Entry == nil || contains(t.Entry.Transaction.Guards, probe)
}

// longestLife is that of a checkpoint where none is known.
const longestLife = 2*time.Minute + 30*time.Second

func (t *Trial) life() time.Duration {
	if t == nil {
		return longestLife
	}
	return max(t.Life, longestLife)
}

// dropsGuards: whoever wants the change wants it whatever it cuts.
func (t *Trial) dropsGuards() bool {
	return t.Entry != nil && t.Entry.Transaction.Change.DropDefaults
}

func contains(all []string, one string) bool { return slices.Contains(all, one) }

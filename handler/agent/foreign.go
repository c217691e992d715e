package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	// foreignInterval paces looking whether something was dropped.
	foreignInterval = 100 * time.Millisecond
	// foreignQuiet is how long nothing may be dropped any more where somebody
	// has something on a link that the change names: NetworkManager may still
	// be at it.
	foreignQuiet = 500 * time.Millisecond
	// foreignPatience is how long what was lost may stay lost, in a longer
	// window: a lease that it needs may come late, but pods are without it.
	foreignPatience = 20 * time.Second
	// managedGrace is how long NetworkManager has to bring back by itself what
	// it makes itself.
	managedGrace = 3 * time.Second
	// foreignBackWindow is how long after a rollback it is tried to put things
	// back where nothing else is amiss.
	foreignBackWindow = managedGrace + 2*time.Second
)

// noteForeign is the kernel's network before a change, for the journal.
func (a *Agent) noteForeign(ctx context.Context) (*foreign.Snapshot, error) {
	if a.Foreign == nil {
		return nil, nil
	}
	noted, err := a.Foreign.Note(ctx)
	if err != nil {
		return nil, fmt.Errorf("noting what is on the node beside the change: %w", err)
	}
	bounded, left := noted.Bounded()
	if left > 0 {
		logf.FromContext(ctx).Info("the node has too many routes to keep: those of routing daemons are left to them", "left", left)
	}
	return &bounded, nil
}

// noteSince adds to the entry what others did on the node since the change began, as the
// way back begins: that is not to be undone.
func (a *Agent) noteSince(ctx context.Context, entry *journal.Entry, intact bool) {
	document, err := state.Parse(entry.Change)
	if err != nil || !a.keeps(*entry) {
		return
	}
	if now, err := a.Foreign.Note(ctx); err == nil {
		since := foreign.Since(*entry.Foreign, now, foreign.NamedBy(document), intact)
		entry.Foreign = &since
	}
}

// keeps tells whether there is anything to compare with. After a reboot there
// is not: the owners make their things anew.
func (a *Agent) keeps(entry journal.Entry) bool {
	if a.Foreign == nil || entry.Foreign == nil {
		return false
	}
	boot, err := a.Boot.ID()
	return err == nil && boot == entry.BootID
}

// keepForeign puts back what the change dropped in passing, until nothing is
// lost any more and that stays so for a moment; an error names what cannot be
// put back.
func (a *Agent) keepForeign(ctx context.Context, entry journal.Entry) error {
	if !a.keeps(entry) {
		return nil
	}
	document, err := state.Parse(entry.Change)
	if err != nil {
		return fmt.Errorf("%s: %w", txn.Foreign, err)
	}
	k := a.keeping(*entry.Foreign, foreign.NamedBy(document))
	quiet := foreignQuiet
	if !foreign.AtStake(k.before, k.named) {
		quiet = 0
	}
	whole := k.began
	var lost []string
	for {
		left := k.round(ctx)
		now := a.Clock.Now()
		if ctx.Err() == nil || lost == nil { // A round that was cut short says nothing.
			lost = left
		}
		if len(left) == 0 {
			whole = now
			if !now.Before(k.last.Add(quiet)) {
				return nil
			}
		}
		ended := !now.Before(whole.Add(foreignPatience)) || !a.Clock.Wait(ctx, nil, foreignInterval)
		if ended && len(lost) > 0 {
			return fmt.Errorf("%s: %s", txn.Foreign, strings.Join(lost, "; "))
		}
		if ended {
			return nil
		}
	}
}

// foreignBack is the same after the change was taken back: everything is to be
// as it was.
func (a *Agent) foreignBack(entry journal.Entry) *keeping {
	if !a.keeps(entry) {
		return &keeping{}
	}
	document, err := state.Parse(entry.Change)
	if err != nil {
		return &keeping{} // The caller has said so.
	}
	back := a.keeping(*entry.Foreign, foreign.NamedBy(document).Back())
	back.told = map[foreign.Order]bool{}
	return back
}

func (a *Agent) keeping(before foreign.Snapshot, named foreign.Named) *keeping {
	now := a.Clock.Now()
	return &keeping{agent: a, before: before, named: named, began: now, last: now}
}

// keeping is one time of comparing and putting back.
type keeping struct {
	agent  *Agent
	before foreign.Snapshot
	named  foreign.Named
	began  time.Time
	// last is when something was lost the last time, or the beginning.
	last time.Time
	// told are the devices that were given their metrics from before; nil where
	// the change may give them others.
	told map[foreign.Order]bool
}

// isQuiet: nothing was lost for a moment. NetworkManager returns from a rollback
// before it has set up its devices, and may still drop something, once or once more.
func (k *keeping) isQuiet() bool {
	return k.agent == nil || !k.agent.Clock.Now().Before(k.last.Add(foreignQuiet))
}

// round compares once and puts back what is lost. It returns what still is,
// one line each.
func (k *keeping) round(ctx context.Context) []string {
	if k.agent == nil {
		return nil
	}
	now, err := k.agent.Foreign.Note(ctx)
	if err != nil {
		k.last = k.agent.Clock.Now()
		return []string{"reading what is on the node: " + err.Error()}
	}
	losses := foreign.Lost(k.before, now, k.named)
	if slices.ContainsFunc(losses, func(l foreign.Loss) bool { return !l.Slight }) {
		k.last = k.agent.Clock.Now()
	}
	patient := k.last.Before(k.began.Add(managedGrace))
	var left []string
	for _, loss := range losses {
		switch {
		case loss.Managed && patient:
			left = append(left, loss.String()+" is gone")
		default:
			err := k.agent.Foreign.PutBack(ctx, loss)
			switch {
			case loss.Slight: // What matters is that it was tried.
			case err != nil:
				left = append(left, fmt.Sprintf("%s was dropped and cannot be put back: %v", loss, err))
			default:
				left = append(left, loss.String()+" was dropped and put back, and is gone again")
			}
		}
	}
	if k.told != nil {
		left = append(left, k.inOrder(ctx, now)...)
	}
	return idle.Lines(left)
}

// inOrder has NetworkManager use the routes of its devices in the order in which it did: of
// two gateways the other one may lead nowhere. Each device is told once, and one that has
// no such route yet when there is no more patience with it.
func (k *keeping) inOrder(ctx context.Context, now foreign.Snapshot) []string {
	patient := k.agent.Clock.Now().Before(k.began.Add(managedGrace))
	var left []string
	for _, o := range foreign.Outranked(k.before, now) {
		if o.Late && k.told[o] {
			continue // It gets its route with its lease, whenever that comes.
		}
		if !k.told[o] && !(o.Late && patient) {
			k.last = k.agent.Clock.Now()
			action := profiles.Action{Verb: profiles.SetMetric, Device: o.Device, IPv6: o.IPv6, Metric: o.Metric}
			if err := k.agent.do(ctx, []profiles.Action{action}); err != nil {
				left = append(left, fmt.Sprintf("%s, and comes after it now: %v", o, err))
				continue
			}
			k.told[o] = true
		}
		left = append(left, fmt.Sprintf("%s, and comes after it now", o))
	}
	return left
}

package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/foreign"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
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
	return &noted, nil
}

// keepForeign puts back what the change dropped in passing, until nothing is
// lost any more and that stays so for a moment; an error names what cannot be
// put back.
func (a *Agent) keepForeign(ctx context.Context, entry journal.Entry) error {
	if a.Foreign == nil || entry.Foreign == nil {
		return nil
	}
	document, err := state.Parse(entry.Change)
	if err != nil {
		return fmt.Errorf("%s: %w", txn.Foreign, err)
	}
	k := a.keeping(*entry.Foreign, foreign.NamedBy(document))
	var lost []string
	for {
		left := k.round(ctx)
		if ctx.Err() == nil || lost == nil {
			lost = left
		}
		if len(left) == 0 && (!foreign.AtStake(k.before, k.named) || !a.Clock.Now().Before(k.last.Add(foreignQuiet))) {
			return nil
		}
		if !a.sleep(ctx, foreignInterval) {
			return fmt.Errorf("%s: %s", txn.Foreign, strings.Join(orNone(lost), "; "))
		}
	}
}

// foreignBack is the same after the change was taken back: everything is to be
// as it was.
func (a *Agent) foreignBack(entry journal.Entry) *keeping {
	if a.Foreign == nil || entry.Foreign == nil {
		return &keeping{}
	}
	document, err := state.Parse(entry.Change)
	if err != nil {
		return &keeping{} // The caller has said so.
	}
	return a.keeping(*entry.Foreign, foreign.NamedBy(document).Back())
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
	if len(losses) > 0 {
		k.last = k.agent.Clock.Now()
	}
	patient := k.last.Before(k.began.Add(managedGrace))
	var left []string
	for _, loss := range losses {
		switch {
		case loss.Managed && patient:
			left = append(left, loss.String()+" is gone")
		default:
			if err := k.agent.Foreign.PutBack(ctx, loss); err != nil {
				left = append(left, fmt.Sprintf("%s was dropped and cannot be put back: %v", loss, err))
			} else {
				left = append(left, loss.String()+" was dropped and put back, and is gone again")
			}
		}
	}
	return bounded(left)
}

// until is how long it is worth trying after a rollback: once the rest of the
// node is as before, nothing comes any more that a lost thing may wait for.
func (k *keeping) until(deadline time.Time, settled txn.Settled) time.Time {
	if len(settled.Differences) > 0 || len(settled.Foreign) == 0 {
		return deadline
	}
	return k.began.Add(foreignBackWindow)
}

// bounded keeps a message readable when a whole table is lost.
func bounded(lines []string) []string {
	const most = 20
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], fmt.Sprintf("and %d more", len(lines)-most))
}

func orNone(lost []string) []string {
	if len(lost) == 0 {
		return []string{"what the change does not name was not looked at"}
	}
	return lost
}

// sleep returns false when ctx ended first.
func (a *Agent) sleep(ctx context.Context, d time.Duration) bool {
	timer := a.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
)

// checkpointLook is the longest pause between two looks at a checkpoint of somebody
// else: whoever made it may end it before its time.
const checkpointLook = 10 * time.Second

// obstacle is what keeps a change from beginning.
type obstacle struct {
	// checkpoints of somebody else, and what is said of them.
	checkpoints []string
	message     string
	// look is how soon it may be gone.
	look time.Duration
}

// obstacle finds checkpoints of somebody else; nil for none. NetworkManager makes no second
// one of the same device, so a try would be refused; that is no failure of the
// change, and none is counted. The error is that it cannot be known: an apply says what is
// wrong with NetworkManager, and what needs none waits (unasked).
func (a *Agent) obstacle(ctx context.Context) (*obstacle, error) {
	pending, err := a.checkpoints(ctx)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	since, err := a.Boot.Elapsed()
	if err != nil {
		return nil, err
	}
	return obstacleOf(pending, since, a.Clock.Now()), nil
}

// unasked keeps from being committed what the node seems to have already: a checkpoint that
// nobody knows of may take it away again.
func unasked(err error) *obstacle {
	return &obstacle{message: "waiting for NetworkManager, which does not tell its checkpoints: " + oneLine(err), look: checkpointLook}
}

// checkpoints are those that NetworkManager has while none is ours.
func (a *Agent) checkpoints(ctx context.Context) ([]backend.Pending, error) {
	askCtx, cancel := deadline.After(ctx, a.Clock, liveReadTimeout)
	defer cancel()
	return a.Backend.Pending(askCtx)
}

// isFree tells whether NetworkManager answers, and no checkpoint of somebody else is in
// the way of a change.
func (a *Agent) isFree(ctx context.Context) bool {
	pending, err := a.checkpoints(ctx)
	return err == nil && len(pending) == 0
}

// obstacleOf is what checkpoints of somebody else are to a change, so long after the boot.
func obstacleOf(pending []backend.Pending, since time.Duration, now time.Time) *obstacle {
	found := &obstacle{look: checkpointLook}
	var lines []string
	for _, one := range pending {
		end := "which lives until whoever made it ends it"
		if one.RollbackAfter > 0 {
			left := max(one.CreatedBoot+one.RollbackAfter-since, 0)
			found.look = min(found.look, left+time.Second)
			end = "which ends at " + now.Add(left).UTC().Format("15:04:05Z")
		}
		found.checkpoints = append(found.checkpoints, "checkpoint "+string(one.Checkpoint))
		lines = append(lines, fmt.Sprintf("%s, %s", one.Checkpoint, end))
	}
	found.message = "waiting for NetworkManager's checkpoint " + strings.Join(lines, "; ") + "; somebody else made it"
	return found
}

// begins is when a change begins: what it has waited belongs to it.
func (a *Agent) begins(nns *v1.NodeNetworkState, waited *v1.Transaction) time.Time {
	if waited != nil && waited.Generation == nns.Generation {
		return waited.Since.Time
	}
	return a.Clock.Now()
}

// wait tells that a change waits for what is in its way. Of the same checkpoints the
// same is told each time.
func (a *Agent) wait(nns *v1.NodeNetworkState, waited *v1.Transaction, found *obstacle) {
	a.txn.waiting = &v1.Transaction{
		Generation: nns.Generation, Phase: v1.PhaseWaiting, Since: *idle.InSeconds(a.begins(nns, waited)), Policy: record.ChangedPolicy(a.record.Record, nns.Spec),
		Sources: v1.PlainSources(nns.Spec.Sources), WaitingFor: found.checkpoints, Message: idle.Message(found.message),
	}
	if waited != nil && slices.Equal(waited.WaitingFor, found.checkpoints) {
		a.txn.waiting.Message = waited.Message
	}
	if last := a.record.Last; last != nil && last.Generation == nns.Generation {
		a.txn.waiting.Attempts = last.Attempts
	}
}

package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// messageTakenOver is told of a change that needed no transaction.
const messageTakenOver = "taken over from the older project: the node has all of it, so nothing was applied"

// takeOver commits what the older project has configured, where the node has all of it and
// the next boot brings it: nothing is applied, so no probe and no checkpoint guards it. What
// was there before the older project nobody knows: for an undo it is what is there now. It
// returns false where something is lacking, which takes a transaction as any other change.
func (a *Agent) takeOver(ctx context.Context, change txn.Change, delta state.State) (wait time.Duration, over bool) {
	readCtx, cancel := deadline.After(ctx, a.Clock, undoReadTimeout)
	defer cancel()
	changes := a.inbox.changes.Load()
	entry := a.txn.entry
	entry.Change = delta.JSON()
	now, lacking, err := a.lacksFor(readCtx, &entry, delta)
	if err != nil {
		lacking = []string{err.Error()}
	}
	if left := a.inbox.calmAt().Sub(a.Clock.Now()); len(lacking) > 0 && left > 0 {
		return left, true // Profiles may still be on their way up after the start.
	}
	if len(lacking) > 0 {
		logf.FromContext(ctx).Info("it is not taken over as it is", "policy", change.Policy, "lacking", idle.Lines(lacking))
		return 0, false
	}
	if wait = a.commitUntried(ctx, change, entry, messageTakenOver); wait == 0 {
		a.reads.shown = &reading{state: now, devices: entry.Profiles.Devices, changes: changes}
	}
	return wait, true
}

// lacksFor reads the node and tells what of a change it lacks, now or after the next boot.
// The entry gets what was read, and what of the change cannot be verified.
func (a *Agent) lacksFor(ctx context.Context, entry *journal.Entry, delta state.State) (now state.State, lacking []string, err error) {
	if now, err = a.Backend.Show(ctx); err != nil {
		return now, nil, fmt.Errorf("reading the node's network: %w", err)
	}
	known, err := a.Backend.Profiles(ctx)
	if err != nil {
		return now, nil, fmt.Errorf("reading the node's profiles: %w", err)
	}
	entry.Before, entry.Profiles = now.JSON(), &known
	made, err := changeOf(*entry)
	if err != nil {
		return now, nil, err
	}
	activated := profiles.Activated(delta, now, known.Devices)
	lacking = slices.Concat(lines(lacks(delta, reading{state: now, devices: known.Devices})), activated.Lacking, profiles.Unkept(delta, now, known, made))
	entry.NotVerified, entry.ToCome = notVerified(delta, activated.Unverified), activated.Waiting
	if len(lacking) == 0 { // Whoever wrote the files may not have flushed them.
		lacking = a.flush(ctx, *entry)
	}
	return now, lacking, nil
}

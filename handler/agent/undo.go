package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/deadline"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

const (
	onDeleteRevert = "Revert"
	// undoReadTimeout bounds the read that an undo is computed from.
	undoReadTimeout = 30 * time.Second
	// removalAttempts is how often a removal is tried, and how long the other
	// policies of the node wait for it.
	removalAttempts = 5
)

// undo is what to apply beside the difference of the aggregates, so that what
// leaves the desired state goes back to what was there before it. A removal
// that was kept is not undone again.
func (a *Agent) undo(ctx context.Context, nns *v1.NodeNetworkState, desired state.State) (state.State, error) {
	committed := a.record.Committed
	if committed == nil || len(a.record.Originals) == 0 || a.kept(a.hashOf(nns.Spec.DesiredState)) {
		return state.State{}, nil
	}
	reverts := reverted(committed.Sources, nns.Spec.Sources)
	if len(reverts) == 0 {
		return state.State{}, nil
	}
	from, err := state.Parse(committed.Desired)
	if err != nil {
		return state.State{}, fmt.Errorf("reading the committed state: %w", err)
	}
	originals, err := state.ParseOriginals(a.record.Originals)
	if err != nil {
		return state.State{}, err
	}
	readCtx, cancel := deadline.After(ctx, a.Clock, undoReadTimeout)
	defer cancel()
	current, err := a.Backend.Show(readCtx)
	if err != nil {
		return state.State{}, fmt.Errorf("reading the node's network: %w", err)
	}
	return state.Undo(from, desired, reverts, originals, current), nil
}

// reverted are the paths of the policies with onDelete: Revert that leave, or
// that come out differently now.
func reverted(committed, next []v1.DesiredSource) []state.Path {
	var paths []state.Path
	for _, source := range committed {
		stays := slices.ContainsFunc(next, func(s v1.DesiredSource) bool { return s.Policy == source.Policy && s.Hash == source.Hash })
		if source.OnDelete == onDeleteRevert && !stays {
			paths = append(paths, state.ParsePaths(source.Paths)...)
		}
	}
	return paths
}

// isRemoval tells whether policies leave and nothing else changes. What a
// person writes instead is no removal.
func (a *Agent) isRemoval(nns *v1.NodeNetworkState) bool {
	committed := a.record.Committed
	if committed == nil || len(nns.Spec.Sources) >= len(committed.Sources) || a.changedPolicy(nns.Spec) != "" {
		return false
	}
	return len(nns.Spec.Sources) > 0 || nns.Spec.DesiredState.IsZero()
}

func (a *Agent) kept(hash string) bool { return a.record.Kept != nil && a.record.Kept.Hash == hash }

// committed records what the node has now. It was not applied where policies could not
// be taken off.
func (a *Agent) committed(ctx context.Context, hash string, applied bool) {
	if err := a.remember(hash, applied); err != nil {
		// Without originals nothing of it is ever undone: it stays, as with
		// onDelete: Retain.
		logf.FromContext(ctx).Error(err, "cannot note what was there before")
		a.record.Originals, a.record.Stays = nil, nil
	}
	a.rememberScripts()
	a.record.Committed = &journal.Committed{Hash: hash, Sources: a.entry.Sources, Desired: a.entry.Desired}
	if !a.kept(hash) {
		a.record.Kept = nil
	}
}

// remember notes what was there before what is committed now, and what stays beside it.
func (a *Agent) remember(hash string, applied bool) error {
	var from state.State
	if a.record.Committed != nil {
		var err error
		if from, err = state.Parse(a.record.Committed.Desired); err != nil {
			return err
		}
	}
	desired, err := state.Parse(a.entry.Desired)
	if err != nil {
		return err
	}
	before, err := state.Parse(a.entry.Before)
	if err != nil {
		return err
	}
	known, err := state.ParseOriginals(a.record.Originals)
	if err != nil {
		return err
	}
	stays, err := a.stays()
	if err != nil {
		return err
	}
	a.record.Stays = nil
	if next := state.Staying(stays, from, desired, !applied); !next.IsEmpty() {
		a.record.Stays = next.JSON()
	}
	a.record.Originals = nil
	if next := known.Remember(from, desired, before, a.retained(hash)); !next.IsEmpty() {
		a.record.Originals = next.JSON()
	}
	return nil
}

// stays is what stays beside what is committed.
func (a *Agent) stays() (state.State, error) {
	if len(a.record.Stays) == 0 {
		return state.State{}, nil
	}
	return state.Parse(a.record.Stays)
}

// retained are the paths of the policies that leave without being undone: what
// they had set stays, also where another policy still sets it too.
func (a *Agent) retained(hash string) []state.Path {
	var paths []state.Path
	leaving, kept := a.leaving(), a.kept(hash)
	for _, source := range a.committedSources() {
		stays := source.OnDelete != onDeleteRevert || kept
		if stays && slices.Contains(leaving, source.Policy) {
			paths = append(paths, state.ParsePaths(source.Paths)...)
		}
	}
	return paths
}

func (a *Agent) committedSources() []v1.DesiredSource {
	if a.record.Committed == nil {
		return nil
	}
	return a.record.Committed.Sources
}

// isInVain tells of a removal that has failed too often: nobody is left who could
// mend it, and each later change of the node would fail with it. As long as no change
// could be made there at all, it is tried on.
func (a *Agent) isInVain(ctx context.Context, last v1.Transaction) bool {
	if last.Attempts < removalAttempts {
		return false
	}
	askCtx, cancel := deadline.After(ctx, a.Clock, liveReadTimeout)
	defer cancel()
	pending, err := a.Backend.Pending(askCtx)
	return err == nil && len(pending) == 0
}

// keep ends a removal that failed for good: trying again would be another outage, or
// in vain, so the configuration stays on the node and nobody owns it any more.
// It returns whether another attempt is to be made at once: the one without
// the undo, which may still have something to change.
func (a *Agent) keep(ctx context.Context, outcome txn.Outcome) (again bool) {
	what := "removal"
	if a.entry.Undo {
		what = "undo"
	}
	if !a.kept(outcome.Change.Hash) {
		a.record.Kept = &journal.Kept{Hash: outcome.Change.Hash, Message: shortened(fmt.Sprintf(
			"%s of policy %s: %s; its configuration stays, as with onDelete: Retain",
			what, strings.Join(a.leaving(), ", "), outcome.Message))}
	}
	if a.entry.Undo {
		return true
	}
	// Nothing was applied: what was there before the rest of it is known still.
	a.entry.Before = nil
	a.committed(ctx, outcome.Change.Hash, false)
	return false
}

// leaving are the policies that the open transaction takes off the node.
func (a *Agent) leaving() []string {
	var names []string
	for _, source := range a.committedSources() {
		if !slices.ContainsFunc(a.entry.Sources, func(s v1.DesiredSource) bool { return s.Policy == source.Policy }) {
			names = append(names, source.Policy)
		}
	}
	return names
}

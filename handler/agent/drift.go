package agent

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/journal"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/handler/txn"
)

// drift is what package idle knows of the drift, and of what read.
type drift struct {
	idle.Drift
	// fresh: the last read is of this turn.
	fresh bool
	// unjudged: what was read last was read while the node was to be something else.
	unjudged bool
}

// judge compares what was read with what is committed. A node that is being
// brought somewhere else is not judged.
func (a *Agent) judge(nns *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus, read reading) {
	a.drift.unjudged = a.record.Committed == nil || a.txn.Running() || a.record.left.is() || !a.atCommitted(nns)
	if a.drift.unjudged {
		return
	}
	desired, err := state.Parse(a.record.Committed.Desired)
	if err != nil {
		return // Said by enforce.
	}
	if !a.Commands {
		desired = desired.WithoutScripts() // Of a time when they were allowed. Nobody looks at them now.
	}
	now := a.Clock.Now()
	a.record.Corrections = a.record.Corrections.NotAhead(now)
	a.drift.Drift = a.drift.After(idle.Comparison{
		Missing: lacks(desired, read), Told: status.Drift, Sources: a.record.Committed.Sources, Corrections: a.record.Corrections,
		Now: now, Calm: a.inbox.calmAt(), Damping: a.Damping, Node: a.Node, Backoff: a.Backoff,
	})
	a.drift.fresh = true
	a.tell(status)
}

// lacks is what of the desired state the node has not: by its state, and by where
// NetworkManager has its devices. A cable that is out is no drift: nobody has changed the
// node, and NetworkManager brings back what it took away when the cable is in again.
func lacks(desired state.State, read reading) []state.Difference {
	unplugged := profiles.Unplugged(desired, read.state, read.devices)
	inactive := profiles.Inactive(desired, read.state, read.devices)
	missing := slices.DeleteFunc(state.Missing(desired, read.state), func(d state.Difference) bool {
		return unplugged[d.Path.Interface] || slices.ContainsFunc(inactive, func(i state.Difference) bool { return i.Path == d.Path })
	})
	return append(inactive, missing...)
}

func (a *Agent) atCommitted(nns *v1.NodeNetworkState) bool {
	return a.record.Committed.Hash == a.hashOf(nns.Spec.DesiredState)
}

// tell puts what was found into the status. What may be nothing is not told,
// neither as drift nor as its absence.
func (a *Agent) tell(status *v1.NodeNetworkStateStatus) {
	status.Drift = a.drift.Rows(a.Clock.Now())
	a.metrics.leaves(a.Node, len(a.drift.Found))
	switch {
	case len(a.drift.Found) > 0:
		a.setCondition(status, v1.StateDrifted, metav1.ConditionTrue, v1.ReasonDriftFound, a.drift.Message(a.record.Corrections))
	case !a.drift.Differs() || v1.FindCondition(status.Conditions, v1.StateDrifted) != nil:
		a.setCondition(status, v1.StateDrifted, metav1.ConditionFalse, v1.ReasonInSync, "")
	}
}

// lookAgain asks for another read when its time has come, when what was put off is to be
// told, since it may be over by now, and when the node is to be what it was again: that it
// drifted meanwhile no event tells a second time.
func (a *Agent) lookAgain(nns *v1.NodeNetworkState) {
	if a.drift.unjudged && a.record.Committed != nil && a.atCommitted(nns) {
		a.drift.unjudged = false
		a.inbox.dirty.Store(true)
	}
	if a.drift.LooksAgain(a.Clock.Now()) || a.newsDue() {
		a.inbox.dirty.Store(true)
	}
}

// correct begins a transaction that puts right what drifted and is due. It
// acts on what was read in this turn only, and told.
func (a *Agent) correct(ctx context.Context, nns *v1.NodeNetworkState) error {
	fresh, now, committed := a.drift.fresh, a.Clock.Now(), a.record.Committed
	a.drift.fresh = false
	if !fresh || committed == nil {
		return nil
	}
	if !a.atCommitted(nns) {
		// The report was about a newer object than the cache shows this turn.
		a.drift.unjudged = true
		return nil
	}
	due := a.drift.Due(now)
	if len(due.Subjects) == 0 {
		return nil
	}
	if len(committed.Sources) == 0 {
		due.Unguarded = nns.Spec.DefaultProbes == v1.DefaultProbesDrop
	}
	if found, _ := a.obstacle(ctx); found != nil { // An apply says what is wrong with NetworkManager.
		a.drift.LookAt(now.Add(found.look))
		return nil
	}
	desired, err := state.Parse(committed.Desired)
	if err != nil {
		return fmt.Errorf("reading the committed state: %w", err)
	}
	stays, err := record.Stays(a.record.Record)
	if err != nil {
		return err
	}
	// Without what stays, putting a list right would be the removal that failed once more.
	desired = desired.WithStaying(stays)
	part := state.Correction(desired, due.Right, due.Leave)
	if part.IsEmpty() {
		part = desired // A route of another name, say: what drifted cannot be told apart.
	}
	a.txn.entry = journal.Entry{
		Since: now, Sources: committed.Sources, Desired: committed.Desired, Change: part.JSON(), Correction: due.Subjects, Secrets: nns.Spec.Secrets,
	}
	logf.FromContext(ctx).Info("correcting drift", "of", a.txn.entry.Correction)
	a.step(ctx, txn.Wanted{Change: txn.Change{
		Generation: nns.Generation, Hash: committed.Hash, Window: a.window(nns), DropDefaults: due.Unguarded,
	}})
	return nil
}

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/idle"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
	"github.com/nmstate/kubernetes-nmstate/handler/record"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// reported is what the API server was told of the node, or would be.
type reported struct {
	// written is the NodeNetworkState as our last write returned it: the
	// cache may still be behind it.
	written *v1.NodeNetworkState
	// whole is the node's report as it was last read, be it told or not.
	whole atomic.Pointer[state.State]
	// refreshed is the last value of the force-refresh label that was answered.
	refreshed string
	// former is what was told of the time before the policies.
	former toldBefore
	// news are what of the network was not told yet.
	news idle.News
	// atOnce: what is read next is told at once: a change of ours has made it, somebody
	// asks for it, or this process has told nothing yet.
	atOnce bool
}

// report writes the status if anything that matters changed. What was written
// with its reply lost, or by the handler before this one, the cache may not show
// yet: then it is computed again from what the API server has.
func (a *Agent) report(ctx context.Context, nns *v1.NodeNetworkState) error {
	err := a.reportOn(ctx, nns)
	if !apierrors.IsConflict(err) {
		return err
	}
	var live v1.NodeNetworkState
	if err := a.Live.Get(ctx, client.ObjectKey{Name: a.Node}, &live); err != nil {
		return fmt.Errorf("reading NodeNetworkState %s live: %w", a.Node, err)
	}
	if !managed(&live) {
		return nil // It is told when the node is managed again.
	}
	a.reported.written = nil // In a cluster that was restored from a backup it has a newer version.
	return a.reportOn(ctx, &live)
}

// reportOn writes the differences to an object, and fails where the API server has
// another one by now: what is the same in an older status and in the new one would
// be left out, and an outcome be put together of two transactions.
func (a *Agent) reportOn(ctx context.Context, nns *v1.NodeNetworkState) error {
	base := a.newest(nns)
	status := base.Status.DeepCopy()
	if err := a.observe(ctx, nns, status); err != nil {
		return err
	}
	status.HandlerVersion, status.HandlerNmstateVersion, status.BridgeVLANFiltering = a.Version, a.NmstateVersion, a.BridgeVLANFiltering
	status.Capabilities = a.capabilities()
	if a.Secrets != nil {
		status.SecretsKey = a.Secrets.Public()
	}
	a.describe(nns, status)
	if a.putOff(base.Status, status) || sameStatus(base.Status, *status) {
		a.record.untold, a.reported.atOnce = false, false
		a.metrics.told(a.Node, *status, nil)
		return nil
	}
	err := a.patch(ctx, base, *status)
	if isRefusal(err) {
		a.withoutReport(base, status, err)
		err = nil
		if !sameStatus(base.Status, *status) {
			err = a.patch(ctx, base, *status)
		}
	}
	a.metrics.told(a.Node, *status, err)
	if err != nil {
		a.inbox.dirty.Store(true)
		return fmt.Errorf("reporting NodeNetworkState %s: %w", a.Node, err)
	}
	a.record.untold, a.reported.atOnce = false, false
	return nil
}

// tellSetAside takes back that what is reported holds: from now on it gets old. No
// change is under way any more, either, which a rollout waits for (desired.Decide). The
// generation stands in this condition alone: who waits for it sees that it is of now,
// and who waits for another one is not told what was so before.
func (a *Agent) tellSetAside(ctx context.Context, nns *v1.NodeNetworkState) error {
	base := a.newest(nns)
	written := base.DeepCopy()
	if base.Status.Transaction.IsUnderWay() {
		written.Status.Transaction = a.record.Last.DeepCopy()
	}
	a.putCondition(&written.Status, v1.Condition{
		Type: v1.StateAvailable, Status: metav1.ConditionUnknown, Reason: v1.ReasonNotManaged, ObservedGeneration: nns.Generation,
		Message: "the node is not managed (spec.managed is false), so it is not reported",
	})
	a.metrics.told(a.Node, written.Status, nil)
	if sameStatus(base.Status, written.Status) {
		return nil
	}
	if err := a.Client.Status().Patch(ctx, written, patch.Since{Read: base}); err != nil {
		return fmt.Errorf("reporting that node %s is not managed: %w", a.Node, err)
	}
	a.reported.written = written
	return nil
}

// sameStatus compares the state byte by byte: by reflection that would cost more
// than the rest of a turn.
func sameStatus(a, b v1.NodeNetworkStateStatus) bool {
	if !bytes.Equal(a.CurrentState.Raw, b.CurrentState.Raw) {
		return false
	}
	a.CurrentState, b.CurrentState = v1.State{}, v1.State{}
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}

// newest is the object as we know it: our own last write may be ahead of the
// cache, and nobody else writes the status.
func (a *Agent) newest(nns *v1.NodeNetworkState) *v1.NodeNetworkState {
	return newest(nns, a.reported.written)
}

func newest(nns, ours *v1.NodeNetworkState) *v1.NodeNetworkState {
	base := nns.DeepCopy()
	if ours != nil && ours.UID == nns.UID && isNewer(ours, nns) {
		base.Status = *ours.Status.DeepCopy()
		base.ResourceVersion = ours.ResourceVersion
	}
	return base
}

// observe reads the node's network where it may have changed.
func (a *Agent) observe(ctx context.Context, nns *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus) error {
	refresh := nns.Labels[v1.ForceRefreshLabel]
	asked := refresh != a.reported.refreshed
	if !a.inbox.dirty.Load() && !asked && !status.CurrentState.IsZero() {
		return nil
	}
	a.reported.atOnce = a.reported.atOnce || asked || status.CurrentState.IsZero()
	if !a.reported.atOnce && a.reads.wait(a.Clock.Now()) > 0 {
		return nil // It stays to be read.
	}
	a.inbox.dirty.Store(false)
	read, err := a.show(ctx)
	current := read.state
	if err != nil {
		a.inbox.dirty.Store(true)
		reason := v1.ReasonReportFailed
		if errors.Is(err, backend.ErrUnavailable) {
			reason = v1.ReasonNetworkManagerUnavailable
		}
		a.setCondition(status, v1.StateAvailable, metav1.ConditionFalse, reason, "reading the node's network: "+err.Error())
		return nil
	}
	host := a.host(ctx)
	if old := host.tooOld(); old != "" {
		a.setCondition(status, v1.StateAvailable, metav1.ConditionFalse, v1.ReasonNetworkManagerTooOld, old)
	} else {
		a.setCondition(status, v1.StateAvailable, metav1.ConditionTrue, v1.ReasonReported, a.record.unread(a.Clock.Now()))
	}
	if a.NetworkManager != nil {
		status.HostNetworkManagerVersion, status.ResolvConfManager = host.Version, host.ResolvConf
		status.HandlerNetworkManagerVersion = host.Version
		status.NetworkManagerLimits = limits(host.Version)
	}
	named := slices.Concat(policyInterfaces(nns), a.awaited())
	filtered := state.Report(current, named...).WithoutSecrets()
	a.reported.whole.Store(&filtered)
	a.metrics.inventory(a.Node, filtered)
	differs := a.tellState(status, filtered, named)
	if differs || asked {
		status.LastSuccessfulUpdateTime = metav1.NewTime(a.Clock.Now())
	}
	a.reported.news = a.reported.news.Seen(differs, a.Clock.Now())
	a.reported.refreshed = refresh
	a.judge(nns, status, read)
	return nil
}

// show is the node's state: what a commit has just read back, or read now, with its
// devices where something is committed that they may lack. When the network changed since
// it was read back, another turn reads it again: the outcome does not wait for that.
func (a *Agent) show(ctx context.Context) (reading, error) {
	if shown := a.reads.back(); shown != nil {
		if a.inbox.changes.Load() != shown.changes {
			a.inbox.dirty.Store(true)
			a.poke()
		}
		return *shown, nil
	}
	begun, noted := a.Clock.Now(), a.note()
	current, err := a.Backend.Show(ctx)
	if err == nil {
		a.reads.took(begun, a.Clock.Now())
		a.reads.latest = noted.of(current)
	}
	if err != nil || a.record.Committed == nil {
		return reading{state: current}, err
	}
	devices, err := a.Backend.Devices(ctx)
	return reading{state: current, devices: devices}, err
}

// policyInterfaces are reported whatever they look like.
func policyInterfaces(nns *v1.NodeNetworkState) []string {
	desired, err := state.Parse(nns.Spec.DesiredState.Raw)
	if err != nil {
		return nil
	}
	var names []string
	for _, i := range desired.Interfaces() {
		names = append(names, i.Name)
	}
	return names
}

// describe says what was enforced, and how the last transaction ended.
func (a *Agent) describe(nns *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus) {
	last := a.record.Last
	status.Transaction, status.History = a.txn.toTell(&a.record, status.Transaction, a.Node), slices.Clone(a.record.History)
	a.tellBefore(status)
	hash := a.hashOf(nns.Spec.DesiredState)
	atCommitted := nns.Spec.DesiredState.IsZero() && a.record.Committed == nil
	if committed := a.record.Committed; committed != nil {
		status.AppliedHash, status.AppliedSources = committed.Hash, v1.PlainSources(committed.Sources)
		atCommitted = committed.Hash == hash && idle.SameSources(committed.Sources, nns.Spec.Sources)
	} else {
		status.AppliedHash, status.AppliedSources = "", nil
	}
	// A change that is still taken back, be it one that an earlier process left:
	// the node is not there yet, and who waits for it (desired.Decide) must not be
	// told so.
	atCommitted = atCommitted && !a.txn.Running() && !a.record.left.is()
	if atCommitted || (last != nil && last.Generation == nns.Generation && last.Result != v1.TransactionSuperseded) {
		status.ObservedGeneration = nns.Generation
	}
	switch {
	case atCommitted && record.IsKept(a.record.Record, hash):
		a.setCondition(status, v1.StateFailing, metav1.ConditionTrue, v1.ReasonFailedToConfigure, a.record.Kept.Message)
	case atCommitted:
		a.setCondition(status, v1.StateFailing, metav1.ConditionFalse, v1.ReasonSuccessfullyConfigured, "")
	case last != nil && last.Generation == nns.Generation && last.Result != v1.TransactionCommitted:
		a.setCondition(status, v1.StateFailing, metav1.ConditionTrue, v1.ReasonFailedToConfigure, last.Message)
	}
}

// setCondition states a condition of the desired state and the network as they are.
// The generation stands beside the conditions: in them it would be old, and kubectl
// wait believes no old condition.
func (a *Agent) setCondition(status *v1.NodeNetworkStateStatus, kind v1.ConditionType, value metav1.ConditionStatus, reason v1.ConditionReason, message string) {
	a.putCondition(status, v1.Condition{Type: kind, Status: value, Reason: reason, Message: idle.Message(message)})
}

// putCondition changes a condition only if it says something else, so that a
// report without news is no write.
func (a *Agent) putCondition(status *v1.NodeNetworkStateStatus, next v1.Condition) {
	now := metav1.NewTime(a.Clock.Now())
	next.LastHeartbeatTime, next.LastTransitionTime = now, now
	c := v1.FindCondition(status.Conditions, next.Type)
	if c == nil {
		status.Conditions = append(status.Conditions, next)
		return
	}
	if c.Status == next.Status {
		next.LastTransitionTime = c.LastTransitionTime
		if c.Reason == next.Reason && c.Message == next.Message && c.ObservedGeneration == next.ObservedGeneration {
			return
		}
	}
	*c = next
}

// oneLine is the first mistake of a malformed state.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

package agent

import (
	"bytes"
	"cmp"
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
	"github.com/nmstate/kubernetes-nmstate/handler/patch"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// tellState puts a report into a status if it says something else, in a limited size.
func (a *Agent) tellState(status *v1.NodeNetworkStateStatus, report state.State, named []string) (news bool) {
	raw, truncated := report.JSON(), (*v1.Truncated)(nil)
	if status.Truncated == nil && bytes.Equal(raw, status.CurrentState.Raw) {
		return false // Most reads are like the last one: nothing has to be read for that.
	}
	previous, err := state.Parse(status.CurrentState.Raw)
	if err == nil && status.Truncated == nil && state.SameReport(previous, report) {
		return false
	}
	limit := cmp.Or(a.ReportLimit, state.ReportLimit)
	if len(raw) > limit {
		report, truncated = desired.Cut(report, limit, named...)
		if err == nil && equality.Semantic.DeepEqual(truncated, status.Truncated) && state.SameReport(previous, report) {
			return false
		}
		raw = report.JSON()
	}
	status.CurrentState, status.Truncated = v1.NewState(raw), truncated
	return true
}

// Whole is the node's whole report as it was last read, whether or not all of it was
// told; false before it was read.
func (a *Agent) Whole() (state.State, bool) {
	if whole := a.reported.whole.Load(); whole != nil {
		return *whole, true
	}
	return state.State{}, false
}

func (a *Agent) patch(ctx context.Context, base *v1.NodeNetworkState, status v1.NodeNetworkStateStatus) error {
	written := base.DeepCopy()
	written.Status = *status.DeepCopy()
	if err := a.Client.Status().Patch(ctx, written, patch.Since{Read: base}); err != nil {
		return err
	}
	a.reported.written = written
	if !bytes.Equal(base.Status.CurrentState.Raw, status.CurrentState.Raw) {
		a.toldNetwork(status)
	}
	return nil
}

// isRefusal tells whether the API server does not take what it was sent, whoever asks
// again. What is too large for etcd has no reason of its own.
func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	tooLarge := strings.Contains(err.Error(), "too large") || strings.Contains(err.Error(), "larger than max")
	return apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsForbidden(err) || apierrors.IsInternalError(err) && tooLarge || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown && tooLarge
}

// withoutReport leaves the report as it was told before, and says that it is old: the
// outcome of a change, which others wait for, is told all the same. The report is tried
// again with the next that is read.
func (a *Agent) withoutReport(base *v1.NodeNetworkState, status *v1.NodeNetworkStateStatus, cause error) {
	a.toldNetwork(*status) // Its bytes were sent.
	old := base.Status.DeepCopy()
	status.CurrentState, status.Truncated, status.LastSuccessfulUpdateTime = old.CurrentState, old.Truncated, old.LastSuccessfulUpdateTime
	since := "nothing was told before"
	if !old.LastSuccessfulUpdateTime.IsZero() {
		since = "what is told is of " + old.LastSuccessfulUpdateTime.UTC().Format(time.RFC3339)
	}
	is, before := v1.FindCondition(status.Conditions, v1.StateAvailable), v1.FindCondition(old.Conditions, v1.StateAvailable)
	if is != nil && before != nil {
		*is = *before // What it says of the report that was refused is no news.
	}
	a.setCondition(status, v1.StateAvailable, metav1.ConditionUnknown, v1.ReasonReportRefused,
		"the API server refuses the report of the node's network; "+since+": "+cause.Error())
}

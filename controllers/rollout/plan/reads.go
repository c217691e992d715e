package plan

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
	"github.com/nmstate/kubernetes-nmstate/handler/desired"
)

// Reads is what a plan reads of an enactment's status: a cache need not keep the rest.
func Reads(status v1.NodeNetworkConfigurationEnactmentStatus) v1.NodeNetworkConfigurationEnactmentStatus {
	kept := v1.NodeNetworkConfigurationEnactmentStatus{
		PolicyGeneration: status.PolicyGeneration, Hash: status.Hash, Conditions: status.Conditions, WaitsToLeave: status.WaitsToLeave,
	}
	if c := status.Committed; c != nil {
		kept.Committed = &v1.CommittedPolicy{Generation: c.Generation, Hash: c.Hash, Since: c.Since}
	}
	if retry := status.Retry; retry != nil {
		kept.Retry = &v1.EnactmentRetry{After: retry.After}
	}
	if len(status.MatchedInterfaces) > 0 {
		kept.MatchedInterfaces = []string{status.MatchedInterfaces[0]} // That there are any.
	}
	if p := status.Plan; p != nil {
		kept.Plan = &v1.EnactmentPlan{Hash: p.Hash, Disruption: p.Disruption}
	}
	return kept
}

// ReadsAlike tells whether a plan reads the same of both.
func ReadsAlike(before, after *v1.NodeNetworkConfigurationEnactment) bool {
	if before.UID != after.UID || !sameSpec(before.Spec, after.Spec) ||
		before.Status.PolicyGeneration != after.Status.PolicyGeneration || before.Status.Hash != after.Status.Hash ||
		before.Status.WaitsToLeave != after.Status.WaitsToLeave ||
		desired.SetAside(before) != desired.SetAside(after) || desired.CauseOf(before) != desired.CauseOf(after) {
		return false
	}
	then, now := Reads(before.Status), Reads(after.Status)
	if !equality.Semantic.DeepEqual(then.Committed, now.Committed) || !equality.Semantic.DeepEqual(then.Plan, now.Plan) ||
		(then.MatchedInterfaces == nil) != (now.MatchedInterfaces == nil) || (nextTry(then) == nil) != (nextTry(now) == nil) {
		return false
	}
	for _, conditionType := range []v1.ConditionType{
		v1.EnactmentAvailable, v1.EnactmentFailing, v1.EnactmentProgressing, v1.EnactmentAborted, v1.Planned,
	} {
		if isTrue(before, conditionType) != isTrue(after, conditionType) {
			return false
		}
	}
	return true
}

// sameSpec compares what a plan writes. The node's Secrets are no part of it.
func sameSpec(a, b v1.NodeNetworkConfigurationEnactmentSpec) bool {
	a.Secrets, b.Secrets = nil, nil
	return equality.Semantic.DeepEqual(a, b)
}

// nextTry is when the node tries again by itself, nil for never.
func nextTry(status v1.NodeNetworkConfigurationEnactmentStatus) *metav1.Time {
	if status.Retry == nil {
		return nil
	}
	return status.Retry.After
}

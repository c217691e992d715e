package install

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// Reasons of an NMState. The first four are the older project's.
const (
	ReasonDeployed      v1.ConditionReason = "SuccessfullyDeployed"
	ReasonDeploying     v1.ConditionReason = "Deploying"
	ReasonApplyFailed   v1.ConditionReason = "ApplyManifestError"
	ReasonInternalError v1.ConditionReason = "InternalError"
	// ReasonInvalid: a setting of the NMState cannot be had.
	ReasonInvalid v1.ConditionReason = "InvalidConfiguration"
	// ReasonIgnored: another NMState is the one that counts.
	ReasonIgnored v1.ConditionReason = "Ignored"
	// ReasonNotSupported: there is no operator.
	ReasonNotSupported v1.ConditionReason = "NotSupported"
	// ReasonNotReady: pods take longer than patience to be ready.
	ReasonNotReady v1.ConditionReason = "NotReady"
)

// patience is how long pods may take to be ready until that is a failure. A handler
// that runs a transaction takes up to five minutes to end.
const patience = 15 * time.Minute

const maxMessage = 1024

// Verdict is how an installation fares.
type Verdict struct {
	// Reason of all three conditions.
	Reason v1.ConditionReason
	// Message of the condition that is True.
	Message string
}

// Fares tells from the workloads how an installation fares.
func Fares(handler *appsv1.DaemonSet, controllers *appsv1.Deployment) Verdict {
	var waits []string
	h := handler.Status
	switch wanted := h.DesiredNumberScheduled; {
	case h.ObservedGeneration < handler.Generation:
		waits = append(waits, "the DaemonSet "+handler.Name+" is being taken up")
	case h.UpdatedNumberScheduled < wanted:
		waits = append(waits, fmt.Sprintf("the handler is updated on %d of %d nodes", h.UpdatedNumberScheduled, wanted))
	case h.NumberAvailable < wanted:
		waits = append(waits, fmt.Sprintf("the handler is ready on %d of %d nodes", h.NumberAvailable, wanted))
	}
	c, wanted := controllers.Status, int32(1)
	if controllers.Spec.Replicas != nil {
		wanted = *controllers.Spec.Replicas
	}
	switch {
	case c.ObservedGeneration < controllers.Generation:
		waits = append(waits, "the Deployment "+controllers.Name+" is being taken up")
	case c.UpdatedReplicas < wanted || c.Replicas > c.UpdatedReplicas:
		waits = append(waits, fmt.Sprintf("%d of %d controllers are updated", c.UpdatedReplicas, wanted))
	case !available(controllers):
		waits = append(waits, fmt.Sprintf("%d of %d controllers are ready", c.AvailableReplicas, wanted))
	}
	if len(waits) > 0 {
		return Verdict{Reason: ReasonDeploying, Message: strings.Join(waits, "; ")}
	}
	return Verdict{Reason: ReasonDeployed, Message: fmt.Sprintf("the handler is ready on %d nodes", h.NumberAvailable)}
}

// available: one instance leads, the other one only stands by. A cluster with one
// control plane node has room for both, one with none schedulable for neither.
func available(controllers *appsv1.Deployment) bool {
	for _, condition := range controllers.Status.Conditions {
		if condition.Type == appsv1.DeploymentAvailable {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// Status is the status that an NMState gets. It is late when pods take longer than
// they may, and after tells when that will be so, or 0.
func Status(object *v1.NMState, verdict Verdict, now time.Time) (status v1.NMStateStatus, after time.Duration) {
	progressing := one(object, v1.PolicyProgressing, verdict.Reason == ReasonDeploying, verdict, now)
	degraded := one(object, v1.PolicyDegraded, verdict.Reason != ReasonDeploying && verdict.Reason != ReasonDeployed, verdict, now)
	if verdict.Reason == ReasonDeploying {
		if after = progressing.LastTransitionTime.Add(patience).Sub(now); after <= 0 {
			late := Verdict{Reason: ReasonNotReady, Message: fmt.Sprintf("for longer than %s: %s; see kubectl get pods -l app=kubernetes-nmstate -o wide -A", patience, verdict.Message)}
			degraded, after = one(object, v1.PolicyDegraded, true, late, now), 0
		}
	}
	return v1.NMStateStatus{ObservedGeneration: object.Generation, Conditions: []v1.Condition{
		one(object, v1.PolicyAvailable, verdict.Reason == ReasonDeployed, verdict, now), progressing, degraded,
	}}, after
}

// one is a condition of an NMState. Its times stay while it says the same.
func one(object *v1.NMState, conditionType v1.ConditionType, holds bool, verdict Verdict, now time.Time) v1.Condition {
	c := v1.Condition{
		Type: conditionType, Status: metav1.ConditionFalse, Reason: verdict.Reason, ObservedGeneration: object.Generation,
		LastHeartbeatTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}
	if holds {
		c.Status, c.Message = metav1.ConditionTrue, verdict.Message[:min(len(verdict.Message), maxMessage)]
	}
	if before := v1.FindCondition(object.Status.Conditions, conditionType); before != nil && before.Status == c.Status {
		c.LastTransitionTime = before.LastTransitionTime
		if before.Reason == c.Reason && before.Message == c.Message && before.ObservedGeneration == c.ObservedGeneration {
			c.LastHeartbeatTime = before.LastHeartbeatTime
		}
	}
	return c
}

// Chosen are the NMStates, the one that counts first: the oldest that is not being
// deleted. There is none where ok is false.
func Chosen(all []v1.NMState) (chosen *v1.NMState, ignored []*v1.NMState) {
	for i := range all {
		object := &all[i]
		switch {
		case !object.DeletionTimestamp.IsZero():
		case chosen == nil:
			chosen = object
		case older(object, chosen):
			ignored = append(ignored, chosen)
			chosen = object
		default:
			ignored = append(ignored, object)
		}
	}
	return chosen, ignored
}

func older(a, b *v1.NMState) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Name < b.Name
}

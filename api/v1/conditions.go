package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ConditionType is the type of a Condition.
type ConditionType string

// ConditionReason is the machine-readable cause of a condition's status.
type ConditionReason string

// Condition is one aspect of an object's state. The fields are those that
// manifests and scripts for the older project rely on.
type Condition struct {
	Type ConditionType `json:"type"`
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status metav1.ConditionStatus `json:"status"`
	// +optional
	Reason ConditionReason `json:"reason,omitempty"`
	// Message is one line of at most 1 KiB.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// ObservedGeneration is the metadata.generation that the condition was
	// computed from; without it, status.observedGeneration is.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	LastHeartbeatTime metav1.Time `json:"lastHeartbeatTime,omitempty"`
	// LastTransitionTime moves only when status changes.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// Condition types of a policy.
const (
	PolicyDegraded    ConditionType = "Degraded"
	PolicyAvailable   ConditionType = "Available"
	PolicyProgressing ConditionType = "Progressing"
	PolicyIgnored     ConditionType = "Ignored"
)

// Conditions that stand beside those of the older project, only while they
// are True.
const (
	// Planned: mode Plan, and the plan is there.
	Planned ConditionType = "Planned"
	// Reconciling and Stalled are kstatus's words for "not finished yet" and
	// "will not finish by itself", which tools wait on. Policies alone have
	// them: scripts compare the list of an enactment's five.
	Reconciling ConditionType = "Reconciling"
	Stalled     ConditionType = "Stalled"
)

// Condition types of an enactment.
const (
	EnactmentFailing     ConditionType = "Failing"
	EnactmentAvailable   ConditionType = "Available"
	EnactmentProgressing ConditionType = "Progressing"
	EnactmentPending     ConditionType = "Pending"
	EnactmentAborted     ConditionType = "Aborted"
)

// Condition types of a NodeNetworkState.
const (
	// StateAvailable: the node's network is read and reported.
	StateAvailable ConditionType = "Available"
	// StateFailing: the last enforcement of the desired state failed.
	StateFailing ConditionType = "Failing"
	// StateDrifted: something is not as it was brought to.
	StateDrifted ConditionType = "Drifted"
)

// Reasons. Those of policies and enactments are the older project's.
const (
	ReasonConfigurationProgressing   ConditionReason = "ConfigurationProgressing"
	ReasonSuccessfullyConfigured     ConditionReason = "SuccessfullyConfigured"
	ReasonFailedToConfigure          ConditionReason = "FailedToConfigure"
	ReasonNoMatchingNode             ConditionReason = "NoMatchingNode"
	ReasonRetrying                   ConditionReason = "Retrying"
	ReasonMaxUnavailableLimitReached ConditionReason = "MaxUnavailableLimitReached"
	ReasonConfigurationAborted       ConditionReason = "ConfigurationAborted"
)

// Reasons of a NodeNetworkState.
const (
	ReasonReported     ConditionReason = "Reported"
	ReasonReportFailed ConditionReason = "ReportFailed"
	// ReasonReportRefused: the API server does not take the report; what was told is old.
	ReasonReportRefused ConditionReason = "ReportRefused"
	// ReasonPlanned: mode Plan, nothing is applied.
	ReasonPlanned ConditionReason = "Planned"
	// ReasonPaused: the rollout waits for a person. ReasonCanary: for the nodes
	// that go first. ReasonSoaking: for configured nodes to stay so for a while.
	ReasonPaused  ConditionReason = "RolloutPaused"
	ReasonCanary  ConditionReason = "WaitingForCanary"
	ReasonSoaking ConditionReason = "Soaking"
	// ReasonLeaving: the policy is gone from the node, which waits for its turn to undo it.
	ReasonLeaving ConditionReason = "WaitingToLeave"
	// ReasonNotManaged: nobody manages the node.
	ReasonNotManaged ConditionReason = "NodeNotManaged"
	// ReasonInSync, ReasonDriftFound: whether something drifted.
	ReasonInSync                    ConditionReason = "InSync"
	ReasonDriftFound                ConditionReason = "DriftFound"
	ReasonNetworkManagerUnavailable ConditionReason = "NetworkManagerUnavailable"
	// ReasonNetworkManagerTooOld: the node is reported and never changed.
	ReasonNetworkManagerTooOld ConditionReason = "NetworkManagerTooOld"
)

// FindCondition returns the condition of that type, or nil.
func FindCondition(conditions []Condition, conditionType ConditionType) *Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// TrueCondition returns the condition of that type where it is True, or nil.
func TrueCondition(conditions []Condition, conditionType ConditionType) *Condition {
	if c := FindCondition(conditions, conditionType); c != nil && c.Status == metav1.ConditionTrue {
		return c
	}
	return nil
}

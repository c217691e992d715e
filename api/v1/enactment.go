package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Labels of an enactment.
const (
	EnactmentPolicyLabel = "nmstate.io/policy"
	EnactmentNodeLabel   = "nmstate.io/node"
)

// TakenOverAnnotation on an enactment is the hash of the rendering that the older project
// had configured on the node, when the enactment took the place of the older project's.
const TakenOverAnnotation = "nmstate.io/taken-over"

// NodeNetworkConfigurationEnactmentSpec is the rollout controller's word.
type NodeNetworkConfigurationEnactmentSpec struct {
	// ApprovedGeneration is the policy generation that this node may apply
	// now; 0 means none.
	// +optional
	ApprovedGeneration int64 `json:"approvedGeneration,omitempty"`
	// AbortedGeneration is the policy generation that this node shall not
	// begin, since it failed on too many others; 0 means none.
	// +optional
	AbortedGeneration int64 `json:"abortedGeneration,omitempty"`
	// AbortedCause is the first of those nodes and how it failed, in one line.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	AbortedCause string `json:"abortedCause,omitempty"`
	// ApprovedHash, when present, narrows the approval to one rendering
	// (status.hash). A node that has committed another rendering of the same
	// generation, since a variable's value changed there, needs it.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	ApprovedHash string `json:"approvedHash,omitempty"`
	// Leave lets the node undo the policy, which is gone there (status.waitsToLeave).
	// +optional
	Leave bool `json:"leave,omitempty"`
	// MaxUnavailable is what the policy said as the node was granted it last. Once the
	// policy is gone, so many nodes may undo it at a time.
	// +optional
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="type(self) != int || int(self) >= -2147483648 && int(self) <= 2147483647",message="spec.maxUnavailable: must be a number of 32 bits, or text"
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	// Secrets that the policy names, for this node alone.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Secrets []SealedSecret `json:"secrets,omitempty"`
}

// CapturedState is one resolved capture.
type CapturedState struct {
	State State `json:"state,omitempty,omitzero"`
	// Truncated says what state leaves out; absent where it is whole.
	// +optional
	Truncated *Truncated `json:"truncated,omitempty"`
	// +optional
	MetaInfo CapturedStateMeta `json:"metaInfo,omitempty,omitzero"`
}

// CapturedStateMeta says which capture a CapturedState came from.
type CapturedStateMeta struct {
	// +optional
	Time metav1.Time `json:"time,omitempty"`
	// +optional
	Version string `json:"version,omitempty"`
}

// CommittedPolicy is the part of a policy that the node has committed: what
// the node goes back to when a newer generation fails.
type CommittedPolicy struct {
	// Generation of the policy.
	Generation int64 `json:"generation"`
	// Hash of the rendered state.
	// +kubebuilder:validation:MaxLength=128
	Hash string `json:"hash"`
	// Priority and Created are the policy's place in the merge order.
	// +optional
	Priority int32 `json:"priority,omitempty"`
	// +optional
	Created metav1.Time `json:"created,omitempty"`
	// Since is when the node committed this state.
	// +optional
	Since metav1.Time `json:"since,omitempty,omitzero"`
	// DesiredState as rendered for the node.
	// +optional
	DesiredState State `json:"desiredState,omitempty,omitzero"`
}

// EnactmentRetry says when a failed policy is tried again on the node.
type EnactmentRetry struct {
	// Attempts that failed in a row for this generation.
	Attempts int32 `json:"attempts"`
	// After is the time of the next attempt; absent when the failure is final
	// for this generation, or there is something in awaits.
	// +optional
	After *metav1.Time `json:"after,omitempty"`
	// Awaits are interfaces that are not on the node: it is tried again once the
	// node reports all of them.
	// +optional
	// +listType=atomic
	Awaits []string `json:"awaits,omitempty"`
}

// EnactmentRollback is how the node got back after a failed change.
type EnactmentRollback struct {
	// Result is RolledBack, or RollbackIncomplete when something that the
	// change had altered did not come back.
	// +kubebuilder:validation:Enum=RolledBack;RollbackIncomplete
	Result string `json:"result"`
	// Differences between before and after, one line each; empty for RolledBack.
	// +optional
	Differences []string `json:"differences,omitempty"`
}

// PlannedInterface is what would change on one interface.
type PlannedInterface struct {
	Name       string     `json:"name"`
	Disruption Disruption `json:"disruption"`
	// Reason for the class, in a few words.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Changes, one line each: path, value now, value then.
	// +optional
	Changes []string `json:"changes,omitempty"`
}

// EnactmentPlan is the difference between the node now and then.
type EnactmentPlan struct {
	// Hash of the rendered state and of the changes below.
	// +kubebuilder:validation:MaxLength=128
	Hash string `json:"hash"`
	// Disruption is the worst of any interface.
	Disruption Disruption `json:"disruption"`
	// Interfaces that would change, by name.
	// +optional
	// +listType=map
	// +listMapKey=name
	Interfaces []PlannedInterface `json:"interfaces,omitempty"`
	// Changes outside of interfaces: routes, rules, name servers.
	// +optional
	Changes []string `json:"changes,omitempty"`
	// Warnings of what to look at before this is applied, such as a bridge that may
	// close a ring. They refuse nothing, and the hash is without them.
	// +optional
	Warnings []string `json:"warnings,omitempty"`
}

// NodeNetworkConfigurationEnactmentStatus is how a policy fares on a node.
type NodeNetworkConfigurationEnactmentStatus struct {
	// DesiredState is the policy's state as rendered for this node.
	// +optional
	DesiredState State `json:"desiredState,omitempty,omitzero"`
	// Hash of the rendering.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Hash string `json:"hash,omitempty"`
	// MatchedInterfaces are what spec.match selected on the node.
	// +optional
	MatchedInterfaces []string `json:"matchedInterfaces,omitempty"`
	// Variables are the values, on this node, that desiredState was rendered
	// with.
	// +optional
	Variables map[string]string `json:"variables,omitempty"`
	// Plan is what would change (mode Plan, or with planHashes).
	// +optional
	Plan *EnactmentPlan `json:"plan,omitempty"`
	// CapturedStates are the resolved captures by name.
	// +optional
	CapturedStates map[string]CapturedState `json:"capturedStates,omitempty"`
	// PolicyGeneration is the generation of the policy that this status is about.
	// +optional
	PolicyGeneration int64 `json:"policyGeneration,omitempty"`
	// ObservedGeneration is this object's generation that was acted on.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// WaitsToLeave: the policy is gone from the node, and what it configured there is to be
	// undone: that waits for spec.leave.
	// +optional
	WaitsToLeave bool `json:"waitsToLeave,omitempty"`
	// Features of nmstate that the desired state uses.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=64
	Features []string `json:"features,omitempty"`
	// GuardedBy lists the probes that had to pass after the change; empty
	// means that nothing guarded it.
	// +optional
	GuardedBy []string `json:"guardedBy,omitempty"`
	// NotVerified lists what of the committed change nothing has proved, one line
	// each: what cannot be read back, and default gateways that it took away.
	// +optional
	// +listType=atomic
	NotVerified []string `json:"notVerified,omitempty"`
	// SecretsKey is the node's key that the Secrets which the policy names are sealed
	// with; empty where it names none.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SecretsKey string `json:"secretsKey,omitempty"`
	// Committed is what of this policy the node has committed.
	// +optional
	Committed *CommittedPolicy `json:"committed,omitempty"`
	// Retry is set while the policy fails on the node.
	// +optional
	Retry *EnactmentRetry `json:"retry,omitempty"`
	// Rollback is set when the change was taken back.
	// +optional
	Rollback *EnactmentRollback `json:"rollback,omitempty"`
	// DesiredStateMetaInfo and RetryCount are what the older project has: when the
	// desired state was rendered, and how many attempts failed in a row.
	// +optional
	DesiredStateMetaInfo CapturedStateMeta `json:"desiredStateMetaInfo,omitempty,omitzero"`
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	RetryCount int32 `json:"retryCount,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// NodeNetworkConfigurationEnactment is one policy on one node: spec is the
// permission to apply it, status the outcome.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodenetworkconfigurationenactments,shortName=nnce,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].type",description="Status"
// +kubebuilder:printcolumn:name="Status Age",type="date",JSONPath=".status.conditions[?(@.status==\"True\")].lastTransitionTime",description="Status Age"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].reason",description="Reason"
// +kubebuilder:printcolumn:name="Node",type="string",priority=1,JSONPath=".metadata.ownerReferences[?(@.kind==\"Node\")].name",description="Node"
// +kubebuilder:printcolumn:name="Policy",type="string",priority=1,JSONPath=".metadata.ownerReferences[?(@.kind==\"NodeNetworkConfigurationPolicy\")].name",description="Policy"
// +kubebuilder:printcolumn:name="Message",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].message",description="Why, in one line"
type NodeNetworkConfigurationEnactment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec NodeNetworkConfigurationEnactmentSpec `json:"spec,omitempty"`
	// +optional
	Status NodeNetworkConfigurationEnactmentStatus `json:"status,omitempty"`
}

// NodeNetworkConfigurationEnactmentList is a list of enactments.
//
// +kubebuilder:object:root=true
type NodeNetworkConfigurationEnactmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkConfigurationEnactment `json:"items"`
}

package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NodeNetworkConfigurationPolicySpec says which nodes should have which
// network state, and how carefully they are brought to it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || (!has(self.affinity.podAffinity) && !has(self.affinity.podAntiAffinity))",message="spec.affinity: only nodeAffinity is accepted; remove podAffinity and podAntiAffinity"
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || !has(self.affinity.nodeAffinity) || !has(self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) || size(self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) == 0",message="spec.affinity.nodeAffinity: preferred terms have no meaning for a policy; use requiredDuringSchedulingIgnoredDuringExecution"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeSelector) || self.nodeSelector.all(k, self.nodeSelector[k].matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$') && size(self.nodeSelector[k]) <= 63)",message="spec.nodeSelector: each value must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit"
type NodeNetworkConfigurationPolicySpec struct {
	// NodeSelector selects the nodes that have all of these labels. Without a
	// selector every node matches.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// Affinity narrows the nodes by required node affinity terms.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Tolerations, when present, leave out every node with a NoSchedule or
	// NoExecute taint that they do not tolerate. When absent, taints do not
	// matter.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Priority is the policy's precedence when several policies match a node:
	// higher first, then the older one, then by name.
	// +optional
	Priority int32 `json:"priority,omitempty"`

	// Capture holds nmpolicy expressions by name, resolved on each node anew
	// for each generation; `{{ capture.NAME... }}` in desiredState refers to them.
	// +optional
	Capture map[string]string `json:"capture,omitempty"`

	// DesiredState is the nmstate state that matching nodes are brought to.
	// +optional
	DesiredState State `json:"desiredState,omitempty,omitzero"`

	// MaxUnavailable is how many of the matching nodes may be changing at
	// once: a number, or a percentage rounded up; at least 1 node.
	// +optional
	// +kubebuilder:default="50%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= 1 : string(self).matches('^([1-9]|[1-9][0-9]|100)%$')",message="spec.maxUnavailable: must be a whole number from 1, or a percentage from \"1%\" to \"100%\""
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// ProbeTimeoutSeconds is how long, after an apply, the probes may take
	// until all have passed. When it is over the change is rolled back.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1800
	ProbeTimeoutSeconds *int32 `json:"probeTimeoutSeconds,omitempty"`

	// Mode is Apply. (Plan is refused: not built yet.)
	// +optional
	// +kubebuilder:validation:Enum=Apply
	Mode string `json:"mode,omitempty"`

	// OnDelete is what happens to the configuration when the policy goes or
	// no longer matches: Retain leaves it in place. (Revert is refused: not
	// built yet.)
	// +optional
	// +kubebuilder:validation:Enum=Retain
	OnDelete string `json:"onDelete,omitempty"`
}

// PolicyCounts are numbers of nodes, by how they fare with the policy's
// current generation.
type PolicyCounts struct {
	// Matched nodes that are Ready.
	Matched     int32 `json:"matched"`
	Available   int32 `json:"available"`
	Progressing int32 `json:"progressing"`
	Pending     int32 `json:"pending"`
	Failing     int32 `json:"failing"`
	Aborted     int32 `json:"aborted"`
	// NotReady nodes match but are left out because they are not Ready.
	NotReady int32 `json:"notReady"`
}

// NodeNetworkConfigurationPolicyStatus is how the policy fares in the cluster.
type NodeNetworkConfigurationPolicyStatus struct {
	// ObservedGeneration is the generation that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
	// +optional
	Counts PolicyCounts `json:"counts,omitempty,omitzero"`
}

// NodeNetworkConfigurationPolicy brings the nodes that it selects to a desired
// network state.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodenetworkconfigurationpolicies,shortName=nncp,scope=Cluster
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].type",description="Status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].reason",description="Reason"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="metadata.name: at most 63 characters and shaped like a label value, since enactments carry it as a label"
type NodeNetworkConfigurationPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec NodeNetworkConfigurationPolicySpec `json:"spec,omitempty"`
	// +optional
	Status NodeNetworkConfigurationPolicyStatus `json:"status,omitempty"`
}

// NodeNetworkConfigurationPolicyList is a list of policies.
//
// +kubebuilder:object:root=true
type NodeNetworkConfigurationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkConfigurationPolicy `json:"items"`
}

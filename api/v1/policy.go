package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// OnDeleteRevert is the spec.onDelete that undoes what a policy has configured.
const OnDeleteRevert = "Revert"

// NodeNetworkConfigurationPolicySpec says which nodes should have which
// network state, and how carefully they are brought to it.
//
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || (!has(self.affinity.podAffinity) && !has(self.affinity.podAntiAffinity))",message="spec.affinity: only nodeAffinity is accepted; remove podAffinity and podAntiAffinity"
// +kubebuilder:validation:XValidation:rule="!has(self.affinity) || !has(self.affinity.nodeAffinity) || !has(self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) || size(self.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) == 0",message="spec.affinity.nodeAffinity: preferred terms have no meaning for a policy; use requiredDuringSchedulingIgnoredDuringExecution"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeSelector) || self.nodeSelector.all(k, self.nodeSelector[k].matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$') && size(self.nodeSelector[k]) <= 63)",message="spec.nodeSelector: each value must be a label value: at most 63 letters, digits, '-', '_' or '.', beginning and ending with a letter or digit"
// +kubebuilder:validation:XValidation:rule="!has(self.autoConfig) || !has(self.desiredState)",message="spec.autoConfig: not together with desiredState, since it makes one; remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.autoConfig) || has(self.match)",message="spec.autoConfig: needs spec.match, which says for which interfaces"
// +kubebuilder:validation:XValidation:rule="!has(self.defaultProbes) || self.defaultProbes != 'Drop' || (has(self.probes) && size(self.probes) > 0)",message="spec.defaultProbes: Drop needs at least one entry in spec.probes, or nothing would guard the change"
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
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(t, !has(t.operator) || t.operator in ['', 'Exists', 'Equal', 'Lt', 'Gt'])",message="spec.tolerations: operator must be Exists, Equal, Lt or Gt"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !has(t.effect) || t.effect in ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'])",message="spec.tolerations: effect must be NoSchedule, PreferNoSchedule or NoExecute; leave it out for all of them"
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
	// once: a number, or a percentage rounded up; at least 1 node. A number in
	// quotes is that number, less than 1 counts as 1, and more than 100% as 100%.
	// +optional
	// +kubebuilder:default="50%"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? int(self) >= -2147483648 && int(self) <= 2147483647 : string(self).matches('^[0-9]{1,9}%?$')",message="spec.maxUnavailable: must be a whole number or a percentage, such as 3 or \"30%\""
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`

	// ProbeTimeoutSeconds is how long, after an apply, the probes may take
	// until all have passed. When it is over the change is rolled back.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1800
	ProbeTimeoutSeconds *int32 `json:"probeTimeoutSeconds,omitempty"`

	// Mode Plan shows, in each enactment, what Apply would change on the node,
	// and changes nothing.
	// +optional
	// +kubebuilder:validation:Enum=Apply;Plan
	Mode string `json:"mode,omitempty"`

	// PlanHashes, when present, are the plans that were reviewed (status.plans
	// of mode Plan): a node applies the policy only if its plan is one of them.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.all(h, h.matches('^[0-9a-f]{8,64}$'))",message="spec.planHashes: not a plan's hash; copy it from status.plans of the policy in mode Plan"
	PlanHashes []string `json:"planHashes,omitempty"`

	// OnDelete is what happens to the configuration when the policy goes, no
	// longer matches, or no longer names it: Retain leaves it in place, Revert
	// puts back what was there before.
	// +optional
	// +kubebuilder:validation:Enum=Retain;Revert
	OnDelete string `json:"onDelete,omitempty"`

	// Drift is what happens when the node's network no longer has what the
	// policy brought it to: Correct (default) applies it again, Report only
	// tells it in the NodeNetworkState.
	// +optional
	// +kubebuilder:validation:Enum=Correct;Report
	Drift string `json:"drift,omitempty"`

	// Match selects interfaces of each node: those for which all fields of any
	// one rule hold. An entry of desiredState.interfaces without a name is made
	// once for each of them; `{{ match.name }}` stands for its name.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="size(self) > 0",message="spec.match: an empty list selects nothing; give it a rule, or leave match out"
	Match []InterfaceRule `json:"match,omitempty"`

	// AutoConfig, instead of desiredState, makes the configuration of the
	// matched interfaces from what their LLDP neighbours announce.
	// +optional
	AutoConfig *AutoConfig `json:"autoConfig,omitempty"`

	// Variables have a value on each node; `{{ var.NAME }}` in desiredState and
	// in the targets of probes stands for it.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z][A-Za-z0-9_-]{0,62}$'))",message="spec.variables: a name is at most 63 letters, digits, '-' or '_', beginning with a letter"
	Variables map[string]Variable `json:"variables,omitempty"`

	// Rollout says in which steps the nodes get the policy.
	// +optional
	Rollout *Rollout `json:"rollout,omitempty"`

	// Probes must pass after the change, on top of the default ones, whether
	// they passed before or not.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Probes []Probe `json:"probes,omitempty"`

	// DefaultProbes: Keep (default), or Drop, so that only probes guard the
	// policy's changes.
	// +optional
	// +kubebuilder:validation:Enum=Keep;Drop
	DefaultProbes string `json:"defaultProbes,omitempty"`
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
	// NotManaged nodes match and nobody manages them: no handler has ever reported
	// them, or spec.managed of their NodeNetworkState is false. Nothing waits for
	// them.
	// +optional
	NotManaged int32 `json:"notManaged,omitempty"`
	// Planned nodes have a plan of the current generation (mode Plan).
	// +optional
	Planned int32 `json:"planned,omitempty"`
}

// PolicySlots are the rights to be changing, by spec.maxUnavailable.
type PolicySlots struct {
	// Limit is how many nodes may be changing at once.
	Limit int32 `json:"limit"`
	// Taken of them: more than limit where an edit has lowered that. A node that fails keeps
	// its slot; the first one that died in the middle of the change gives it back.
	Taken int32 `json:"taken"`
	// Holders are the nodes that have one, by name; at most 100.
	// +optional
	// +listType=atomic
	Holders []string `json:"holders,omitempty"`
}

// PolicyPlan is one plan that nodes have for the policy, and how many.
type PolicyPlan struct {
	// Hash, to be pinned in spec.planHashes.
	Hash string `json:"hash"`
	// Disruption is the worst of any interface.
	Disruption Disruption `json:"disruption"`
	// Nodes that have this plan, and one of them by name.
	Nodes   int32  `json:"nodes"`
	Example string `json:"example"`
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
	// Nodes is how many of the nodes that match have the policy, such as 2/3;
	// in mode Plan, how many have a plan.
	// +optional
	Nodes string `json:"nodes,omitempty"`
	// Slots of the rollout; absent in mode Plan, and where no node matches.
	// +optional
	Slots *PolicySlots `json:"slots,omitempty"`
	// Message is the first node, by name, on which the policy fails, and why; while
	// nodes wait, what they wait for. One line of at most 1 KiB.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// Plans of the nodes, each once, the most disruptive first; at most 100.
	// +optional
	// +listType=map
	// +listMapKey=hash
	Plans []PolicyPlan `json:"plans,omitempty"`
	// UnavailableNodeCount is how many nodes may be changing: slots.taken by the name
	// that the older project has for it, as are the same by generation and the time
	// of the last change.
	// +optional
	// +kubebuilder:validation:Minimum=-2147483648
	// +kubebuilder:validation:Maximum=2147483647
	UnavailableNodeCount int32 `json:"unavailableNodeCount,omitempty"`
	// +optional
	// +kubebuilder:validation:MaxProperties=1000
	UnavailableNodeCountMap map[string]int64 `json:"unavailableNodeCountMap,omitempty"`
	// +optional
	LastUnavailableNodeCountUpdate *metav1.Time `json:"lastUnavailableNodeCountUpdate,omitempty"`
}

// NodeNetworkConfigurationPolicy brings the nodes that it selects to a desired
// network state.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodenetworkconfigurationpolicies,shortName=nncp,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].type",description="Status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].reason",description="Reason"
// +kubebuilder:printcolumn:name="Nodes",type="string",JSONPath=".status.nodes",description="How many of the nodes that match have it"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="Age"
// +kubebuilder:printcolumn:name="Message",type="string",JSONPath=".status.message",description="The first node on which it fails and why, or what nodes wait for"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63 && self.metadata.name.matches('^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$')",message="metadata.name: must be no more than 63 characters and shaped like a label value, since enactments carry it as a label"
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

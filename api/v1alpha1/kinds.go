package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/nmstate/kubernetes-nmstate/api/v1"
)

// GroupVersion is the API's group and this version of it.
var GroupVersion = schema.GroupVersion{Group: "nmstate.io", Version: "v1alpha1"}

// AddToScheme teaches a scheme the kinds of this version.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&NodeNetworkConfigurationPolicy{}, &NodeNetworkConfigurationPolicyList{},
		&NodeNetworkConfigurationEnactment{}, &NodeNetworkConfigurationEnactmentList{},
		&NodeNetworkState{}, &NodeNetworkStateList{},
		&NMState{}, &NMStateList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// NodeNetworkConfigurationPolicy is the v1 kind of that name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
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
	Spec v1.NodeNetworkConfigurationPolicySpec `json:"spec,omitempty"`
	// +optional
	Status v1.NodeNetworkConfigurationPolicyStatus `json:"status,omitempty"`
}

// NodeNetworkConfigurationPolicyList is a list of them.
//
// +kubebuilder:object:root=true
type NodeNetworkConfigurationPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkConfigurationPolicy `json:"items"`
}

// NodeNetworkConfigurationEnactment is the v1 kind of that name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
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
	Spec v1.NodeNetworkConfigurationEnactmentSpec `json:"spec,omitempty"`
	// +optional
	Status v1.NodeNetworkConfigurationEnactmentStatus `json:"status,omitempty"`
}

// NodeNetworkConfigurationEnactmentList is a list of them.
//
// +kubebuilder:object:root=true
type NodeNetworkConfigurationEnactmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkConfigurationEnactment `json:"items"`
}

// NodeNetworkState is the v1 kind of that name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=nodenetworkstates,shortName=nns,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Managed",type="boolean",JSONPath=".spec.managed",description="Whether the node is changed and reported"
// +kubebuilder:printcolumn:name="Available",type="string",JSONPath=".status.conditions[?(@.type==\"Available\")].status",description="Whether the node's network is read and reported"
// +kubebuilder:printcolumn:name="Drift",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",description="Whether something is not as it was brought to"
// +kubebuilder:printcolumn:name="Failing",type="string",priority=1,JSONPath=".status.conditions[?(@.type==\"Failing\")].status",description="Whether the last enforcement failed"
// +kubebuilder:printcolumn:name="Phase",type="string",priority=1,JSONPath=".status.transaction.phase",description="Where the change that runs stands, Idle while none does"
// +kubebuilder:printcolumn:name="Changed",type="date",JSONPath=".status.lastSuccessfulUpdateTime",description="Age of the last change"
type NodeNetworkState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec v1.NodeNetworkStateSpec `json:"spec,omitempty"`
	// +optional
	Status v1.NodeNetworkStateStatus `json:"status,omitempty"`
}

// NodeNetworkStateList is a list of them.
//
// +kubebuilder:object:root=true
type NodeNetworkStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeNetworkState `json:"items"`
}

// NMState is the v1 kind of that name.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=nmstates,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].type",description="Status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].reason",description="Reason"
type NMState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec v1.NMStateSpec `json:"spec,omitempty"`
	// +optional
	Status v1.NMStateStatus `json:"status,omitempty"`
}

// NMStateList is a list of them.
//
// +kubebuilder:object:root=true
type NMStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NMState `json:"items"`
}

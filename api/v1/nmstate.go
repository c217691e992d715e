package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SelfSignConfiguration is accepted for manifests of the older project and has
// no effect: there is no webhook, so there are no certificates to rotate.
type SelfSignConfiguration struct {
	// CARotateInterval has no effect.
	// +optional
	CARotateInterval string `json:"caRotateInterval,omitempty"`
	// CAOverlapInterval has no effect.
	// +optional
	CAOverlapInterval string `json:"caOverlapInterval,omitempty"`
	// CertRotateInterval has no effect.
	// +optional
	CertRotateInterval string `json:"certRotateInterval,omitempty"`
	// CertOverlapInterval has no effect.
	// +optional
	CertOverlapInterval string `json:"certOverlapInterval,omitempty"`
}

// DNSProbe configures the DNS probe.
type DNSProbe struct {
	// Host whose name the node's name servers must answer for.
	// +optional
	// +kubebuilder:default="root-servers.net"
	Host string `json:"host,omitempty"`
}

// ProbeConfiguration configures the default probes.
type ProbeConfiguration struct {
	// +optional
	DNS DNSProbe `json:"dns,omitempty"`
}

// MetricsConfiguration says where metrics are served.
type MetricsConfiguration struct {
	// BindAddress, such as ":8443"; "0" turns metrics off.
	// +optional
	BindAddress string `json:"bindAddress,omitempty"`
}

// NMStateSpec says how the product runs in the cluster.
type NMStateSpec struct {
	// Affinity of the handler.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// NodeSelector of the handler.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the handler.
	// +optional
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// InfraAffinity of the controllers.
	// +optional
	InfraAffinity *corev1.Affinity `json:"infraAffinity,omitempty"`
	// InfraNodeSelector of the controllers.
	// +optional
	InfraNodeSelector map[string]string `json:"infraNodeSelector,omitempty"`
	// InfraTolerations of the controllers.
	// +optional
	InfraTolerations []corev1.Toleration `json:"infraTolerations,omitempty"`
	// +optional
	SelfSignConfiguration *SelfSignConfiguration `json:"selfSignConfiguration,omitempty"`
	// +optional
	ProbeConfiguration *ProbeConfiguration `json:"probeConfiguration,omitempty"`
	// +optional
	MetricsConfiguration *MetricsConfiguration `json:"metricsConfiguration,omitempty"`
	// LogLevel of handler and controllers.
	// +optional
	// +kubebuilder:validation:Enum=info;debug
	// +kubebuilder:default=info
	LogLevel string `json:"logLevel,omitempty"`
}

// NMStateStatus is how the installation fares.
type NMStateStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// NMState installs the handler and the controllers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nmstates,scope=Cluster,categories=nmstate-all
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].type",description="Status"
// +kubebuilder:printcolumn:name="Reason",type="string",JSONPath=".status.conditions[?(@.status==\"True\")].reason",description="Reason"
type NMState struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec NMStateSpec `json:"spec,omitempty"`
	// +optional
	Status NMStateStatus `json:"status,omitempty"`
}

// NMStateList is a list of installations.
//
// +kubebuilder:object:root=true
type NMStateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NMState `json:"items"`
}

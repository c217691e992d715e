package v1

// SealedSecret is a value of a Secret that one node alone can read. A desired state
// refers to it as {{ secret.NAME.KEY VERSION }}.
type SealedSecret struct {
	// Name of the Secret.
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key in the Secret.
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
	// Version of the value on this node: another one when the Secret was written, or when
	// the node has another key. It says nothing about the value.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Version string `json:"version,omitempty"`
	// Sealed is the value, encrypted with the node's key.
	// +optional
	// +kubebuilder:validation:MaxLength=8192
	Sealed string `json:"sealed,omitempty"`
	// Problem is why there is no value, in one line.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Problem string `json:"problem,omitempty"`
}

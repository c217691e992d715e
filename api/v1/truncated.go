package v1

// Truncated says what a report leaves out, since the whole would be larger than 512 KiB.
type Truncated struct {
	// Size of the whole report in bytes.
	Size int64 `json:"size"`
	// Hash of the whole report: it changes whenever the whole report does.
	Hash string `json:"hash"`
	// Omitted parts, the most first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Omitted []Omitted `json:"omitted,omitempty"`
}

// Omitted are parts of one section of the state, and interfaces of one type.
type Omitted struct {
	// Section of the state: interfaces, routes.running, ...
	// +kubebuilder:validation:MaxLength=64
	Section string `json:"section"`
	// Type of the interfaces.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Type string `json:"type,omitempty"`
	// Count of them.
	Count int64 `json:"count"`
	// Names of the interfaces in ranges: "br[0-599], eth7".
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Names string `json:"names,omitempty"`
}

package v1

// Bounds of what a node tells of the time before its policies.
const (
	// BeforeLimit is how many interfaces and sections it tells of.
	BeforeLimit = 1000
	// BeforeBytes is how many bytes their values take together.
	BeforeBytes = 64 << 10
)

// Before is what an interface, or a section of the state, had before policies set
// anything there: what an undo brings back.
type Before struct {
	// Of is the interface ("interfaces[eth1]") or the section ("routes", "dns-resolver").
	// +kubebuilder:validation:MaxLength=128
	Of string `json:"of"`
	// Was has the former value of each setting that policies have set. An interface that
	// was not there has state: absent. Secrets are masked.
	Was State `json:"was"`
	// Unset are those of these settings that had no value, such as "bridge.port".
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Unset []string `json:"unset,omitempty"`
}

// Package v1beta1 serves the nmstate.io kinds under the version v1beta1, for manifests
// that name it. The schema is that of v1, field for field; nothing is
// converted. The product itself uses v1 only.
//
// +kubebuilder:object:generate=true
// +groupName=nmstate.io
package v1beta1

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the API's group and this version of it.
var GroupVersion = schema.GroupVersion{Group: "nmstate.io", Version: "v1"}

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

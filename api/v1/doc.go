// Package v1 holds the nmstate.io/v1 API: what a user writes
// (NodeNetworkConfigurationPolicy, NMState), what a node reports and should be
// (NodeNetworkState), and how a policy fares on a node
// (NodeNetworkConfigurationEnactment).
//
// It owns the schema, the condition types and reasons, and nothing else: no
// defaulting in code, no validation in code (CEL in the CRD does it), no client.
// v1 is stored; v1beta1 and v1alpha1 are the same types under other names.
//
// Who writes what (one writer per field):
//
//	NodeNetworkConfigurationPolicy.spec      a person
//	NodeNetworkConfigurationPolicy.status    controllers/rollout
//	NodeNetworkConfigurationEnactment.spec   controllers/rollout
//	NodeNetworkConfigurationEnactment.status handler/policy
//	NodeNetworkState.spec                    handler/policy, or a person
//	NodeNetworkState.status                  handler/agent
//	NMState.status                           controllers/install
//
// +kubebuilder:object:generate=true
// +groupName=nmstate.io
package v1

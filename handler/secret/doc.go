// Package secret hands values of Secrets to one node so that nobody else can read
// them: sealed for a key whose other half never leaves the node's disk (RFC 9180,
// HPKE with X25519).
//
//	policy: {{ secret.NAME.KEY }} ──► controllers: Secret ──► Seal ──► enactment.spec.secrets
//	                                      ▲                                   │ policy handler
//	  enactment.status.secretsKey: Key.Public                                 ▼
//	                                      │               NodeNetworkState.spec.secrets ──► Key.Open, on the node
//
// It owns the key and what is encrypted with it. What a desired state refers to is
// handler/state's, and who gets what is for controllers/secrets to decide.
package secret

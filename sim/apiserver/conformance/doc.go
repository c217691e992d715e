// Package conformance says, one sentence after the other, what the product relies
// on of an API server and of the caches in front of it.
//
// It owns the sentences and what checks them. It runs on the simulator's model
// (sim/apiserver) and on a real kube-apiserver (e2e/apiserver), which keeps the
// model honest: what it does not cover panics in the model.
package conformance

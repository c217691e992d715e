// Package scale counts what a rollout over many nodes costs the API server.
//
// It runs, in one process and against a real kube-apiserver, the real rollout
// controller and for each node the real policy handler and the real state
// handler, each node with its own cache and connections as in its own pod. Only
// the network is not real: a backend that keeps interfaces in memory, and one
// probe that always passes. It never looks at times.
//
//	rollout controller ──┐
//	                     ├──► kube-apiserver ──► audit log ──► requests per node,
//	N × policy handler,  │                                     by verb and kind
//	    state handler  ──┘
//	         │
//	         └─ interfaces in memory
package scale

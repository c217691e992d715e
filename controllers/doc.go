// Command controllers is the cluster-wide half of the product: one instance
// acts, elected through a Lease, any number stand by.
//
// It owns the wiring, the flags and the exit codes. What it runs:
//
//	rollout   grants nodes their turn, writes the status of policies
//	install   answers for NMState objects
//
// It never touches a node's network and never talks to a node: everything goes
// through objects in the API server.
package main

// Command controllers is the cluster-wide half of the product: one instance
// acts, elected through a Lease, any number stand by.
//
// It owns the wiring, the flags and the exit codes. What it runs:
//
//	rollout   grants nodes their turn, writes the status of policies
//	install   tells NMState objects that no operator installs by them
//
// The subcommand operator is that operator: it installs handler and controllers as an
// NMState object says, and runs nothing else.
//
// It never touches a node's network and never talks to a node: everything goes
// through objects in the API server.
package main

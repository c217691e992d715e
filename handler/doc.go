// Command handler runs on every node. It holds the state handler, which brings
// the node to NodeNetworkState.spec.desiredState, and in distributed mode the
// policy handler, which writes that desired state from the policies.
//
// From policy to kernel:
//
//	handler/policy ► handler/desired   which policies, merged into what
//	        NodeNetworkState.spec
//	handler/agent ► handler/idle           whether something begins now
//	              ► handler/txn            one transaction, step by step
//	              ► handler/record         what is remembered of it
//	handler/backend/nmstate                libnmstate on NetworkManager
//
// The command owns flags, wiring and exit codes, nothing else.
package main

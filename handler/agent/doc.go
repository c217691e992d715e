// Package agent is the state handler: it brings its node to
// NodeNetworkState.spec.desiredState and reports NodeNetworkState.status.
//
// # A change, step by step
//
// The policy handler has written a new desired state. It would move the address by
// which the node reaches its API server to a bond.
//
//  1. Reconcile sees that the spec differs from what is committed. It begins a
//     transaction (handler/txn) and writes it to the journal on the node's disk.
//  2. Baseline: which probes (gateway, name server, API server, those of the policy)
//     pass now? Of the default ones, those that do guard the change.
//  3. Arming: the status says that a change begins. From here until it is over no
//     turn talks to the API server: the change may cut it off.
//  4. Applying: a checkpoint of NetworkManager is made, then nmstate applies the
//     state. If the handler dies now, NetworkManager rolls back by itself.
//  5. Probing: every guard has to pass within its time, and what nmstate reports has
//     to be what was asked for. A policy may also wait for a person's confirmation.
//  6. Committing: the profiles are made permanent and the checkpoint is given up.
//     The journal remembers the committed state, and what was there before it.
//  7. If a guard is lost instead, the change is rolled back, and the node is compared
//     with what it was.
//  8. The status reports the result. The policy handler records it in the enactment.
//
// After a crash or a power cut, Recover takes back what the journal has open. It
// needs nothing but the node.
//
// # Between changes
//
// handler/idle says what a turn does, one action after the other. The agent compares
// what the node has with what is committed. What differs for long enough is drift
// (drift.go); a transaction of its own corrects it, ever less often where it comes
// back. A setting that leaves the desired state goes back to what was there before it,
// where its policy says so (undo.go).
//
// # Turns and tasks
//
// A Reconcile is a turn: take the events that came in, let handler/txn decide, start
// or perform the effects, write the journal, return. No turn waits for an apply or a probe:
// these are tasks, whose answers come back as events.
//
//	watch, timers, network events ─► Reconcile ─► txn.Step ─► effects
//	                                    ▲                       │
//	                                    └── inbox ◄── tasks ◄───┘
//
// The package owns the order of these things and NodeNetworkState.status. It
// never selects, renders or merges policies, and never writes a spec except to
// create a missing NodeNetworkState.
package agent

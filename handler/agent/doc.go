// Package agent is the state handler: it brings its node to
// NodeNetworkState.spec.desiredState and reports NodeNetworkState.status.
//
// A Reconcile is a turn: take the events that came in, let handler/txn decide,
// start or perform the effects, journal, return. No turn waits for an apply or
// a probe window: these are tasks, whose answers come back as events.
//
//	watch, timers, network events ─► Reconcile ─► txn.Step ─► effects
//	                                    ▲                       │
//	                                    └── inbox ◄── tasks ◄───┘
//
// While a transaction runs no turn talks to the API server (it may be what the
// change has cut off), except to arm. What an earlier process left open is
// taken back by Recover, which needs nothing but the node.
//
// While none runs, package idle says what a turn does, one action after the other.
//
// What is read is compared with what is committed: what differs
// for long enough is drift (drift.go), and put right by a transaction of its own
// (damping.go). What leaves the desired state goes back to what was there before
// it, where its policy says so (undo.go); the journal's record remembers that.
//
// The package owns the order of these things and NodeNetworkState.status. It
// never selects, renders or merges policies, and never writes a spec except to
// create a missing NodeNetworkState.
package agent

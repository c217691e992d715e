// Package policy is the policy handler: it turns the policies that select a
// node into that node's NodeNetworkState.spec and into enactments.
//
// It owns reading and writing: one turn gathers everything that the decision
// depends on, lets handler/desired decide, and carries the decision out.
//
//	gather (cache) ─► render ─► desired.Decide ─► live read ─► write ─┐
//	   ▲                                                              │
//	   └──────────────── until there is nothing to write ◄────────────┘
//
// The request is a node's name. In distributed mode the reconciler runs inside
// the node's handler and sees that node only; in centralized mode one instance
// does the same for every node. It never decides by itself, never applies
// anything and never writes a NodeNetworkState's status, an enactment's spec or
// a policy.
//
// Stale reads do no harm: what was written in this process is remembered until
// the cache shows it, the NodeNetworkState is read live before the first write
// of an enactment's status, a policy is read live before the node's spec is
// changed for it, and every patch carries the version that it was decided on.
package policy

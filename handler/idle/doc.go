// Package idle decides what a node does while no transaction runs, as txn decides what
// it does while one does. It is pure: a situation goes in, one action comes out. The
// agent does that, and asks again until the answer is Rest.
//
//	   ┌── Create, TellSetAside: the turn is over
//	   │
//	situation ─► TellOutcome ─► Forget ─┬─► Repeat ─┐
//	             of the last     what   ├─► Adopt ──┤
//	             change          failed ├─► Pause ──┼─► Report ─► Correct ─► Rest
//	                                    └─► Begin ──┘             drift
//	                                          └─► a transaction runs: txn
//
// Rules that it keeps:
//   - nothing begins before the journal is closed, since a handler that finds it open
//     takes back what was committed, nor before the outcome of the last change is told;
//   - that a change was committed is told once the journal is closed, and not before;
//   - a change that failed is not tried anew because its generation is another one: its
//     outcome is that of the newer generation, too;
//   - a change of policies that failed is tried again when they say so; one that was
//     written by hand, and a removal, when its back-off is over. A clock that was
//     ahead makes no wait longer than the longest back-off;
//   - what is committed already is not applied again;
//   - what somebody else has changed of the network is told once it is a second old, and
//     in the long run no faster than a node pays for (News).
package idle

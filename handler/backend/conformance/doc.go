// Package conformance is the contract of the port handler/backend as a test
// suite. Every backend, real or simulated, passes it on a node that it may
// change.
//
// It uses nothing but the port and Node, a few ways to look at the node and to
// change it from outside of the backend:
//
//	          ┌── Backend ───► node
//	suite ────┤                 ▲
//	          └── Node: kernel ─┘  what is there now (the oracle),
//	                               somebody else's checkpoint, time,
//	                               NetworkManager's end, a power cut
//
// It never asserts how long a thing takes, only what comes out.
package conformance

// Package once is client mode: a single pass over a node.
//
// It owns the loop of a pass and what a pass comes to (Verdict). It wires
// nothing and reads no flags, so the program and the simulator run the same
// pass. It never decides what a node should be: the two handlers do.
//
//	take back what an earlier process left
//	    ▼
//	turns of the policy handler and the state handler ─► is there a last word? ─► Verdict
//	    ▲                                                    │ no
//	    └──────────────── wait for news ◄────────────────────┘
package once

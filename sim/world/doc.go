// Package world is virtual time and the one who runs: a deterministic scheduler
// for production code.
//
// It owns the clock, the order of everything that happens, the random streams,
// processes and their coroutines, and the numbered boundaries at which ports
// are called. It knows nothing of networks, API servers or policies, and it
// never looks at the machine's clock.
//
//	         ┌───────────────── World ─────────────────┐
//	events ─►│ the earliest one runs, alone, to its end │─► trace, hash
//	         └──┬────────────────────────────────────┬──┘
//	            ▼ resumes                            ▲ parks
//	      a coroutine of a Process ── port call, Wait ┘
//
// Exactly one coroutine runs at a time. It runs until it calls a port (Process.Call) or
// waits (the Clock's Wait); nothing else may block. A killed process never
// sees the end of the call that it was in: its coroutines unwind, with every port
// inert, and what they would have written has no effect.
//
// # The same seed, the same run
//
// Order comes from (time, sequence), chance only from Rand, whose streams are forked by
// name so that a new draw in one component does not shift the others. Nothing
// may iterate over a map on its way to a port.
package world

// Package sweep has one thing go wrong at a time, at each place at which it can: every
// port call of a scenario fails, loses its reply, stalls, or is the last one of its
// process, each in a run of its own; then two at a time, drawn.
//
//	scenario ─► Record ─► Recording: when its actions are due, its calls, its end
//	                          │
//	              Singles, Pairs ─► Job: faults by the number of a call
//	                          │
//	                       Strike ─► Result
//
//	│◄──── actions, at their instants ────►│◄── everything ends ──►│◄─ quiet ─►│
//	│ the rules of sim/oracle hold at every step                               │
//	│                                                           the same end ──┘
//
// It owns the faults on a call, the numbering, which runs there are, and what may
// differ at the end. A struck run carries out what the scenario does at the instants of the
// recorded one and leaves its checks out: under a fault these may fail, but in the end
// there must be the same as without it. same.go says what else may be, and why.
//
// Runs of a recording may go on at once, each on a goroutine of the caller's.
package sweep

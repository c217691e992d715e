// Package oracle says what must hold in every run: the rules of the design, one
// file each, checked from outside while production code runs.
//
//	ports (Watch: backend, journal, probes, client) ──┐
//	hosts' checkpoints (Checkpoint) ──────────────────┤
//	API server (Wrote) ───────────────────────────────┼─► Set.Tell(Event) ─► Facts ─► each Oracle
//	faults (Fault) ───────────────────────────────────┘                                  │
//	                         Truth: hosts, disks, store, who reaches whom ◄──────────────┤
//	                                                      world.Fail ◄── Violation ◄─────┘
//
// An Oracle sees events and may ask what is true; it never asks production code
// what it thinks of itself, except where the rule is about what production tells
// others. Facts are what several rules need to know of the past: the trial that
// is open on a node, what each process has read, which faults are at work.
//
// A rule that a fault may excuse says so by the class of the fault (Moves,
// Hinders, Stale, Deceives). An oracle changes nothing and draws nothing: a run
// is the same with and without it.
//
// That each rule can fail is proved by sim/mutants.
package oracle

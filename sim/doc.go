// Command sim runs the product in a simulated cluster, on virtual time, with
// everything going wrong, and tells which rule of the design did not hold.
//
// It owns the command line, the search over many seeds on all cores, and what is
// printed. What a run is, and what it comes to, is sim/swarm's.
//
//	-seed N ──────────► Draw ─► Execute ─► trace
//	-seeds N ─► workers: Draw ─► Execute ─► figures, coverage, the seeds that broke a rule
//	-shrink ──► Execute again and again with less ─► testdata/
//
// It is the only package of the simulator that knows the machine: its clock (for
// seeds per minute), its cores, its files.
package main

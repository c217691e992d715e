// Package swarm draws a whole run from a seed, and runs it: a cluster, what
// people want of it, what goes wrong, and what has to hold all along.
//
// It owns the generator of workloads, the phases of a run and its result. What
// goes wrong is drawn by sim/fault, what must hold is said by sim/oracle, and
// the cluster is sim/cluster's.
//
//	seed ─► Draw ─► Run ─► Execute ─► Result (figures; a violation, or none)
//
//	│◄──────── safety ────────►│◄──── liveness ────►│◄─ quiet ─►│
//	│ workload, faults         │ all is healed;     │ nothing   │
//	│                          │ everything must    │ may be    │
//	│ the rules hold at every step, to the end      │ written   │
//
// A Run is data: it can be written down, and what it does dropped piece by piece
// (sim -shrink) without any of the rest being drawn anew.
package swarm

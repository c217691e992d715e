// Package fault is the catalog of what goes wrong: every kind of fault that
// the design names, how often and how long, and what it does to the cluster.
//
// It owns the kinds, the plan that is drawn for a run, the instants at which
// its faults begin and end, and the verdict on each port call. It knows no
// model: what a fault does to hosts, network and API server goes through
// Effects. It decides nothing about what is right; that is sim/oracle's.
//
//	seed ─► Draw ─► Plan ─┬─ at a time ────────────────┐
//	                      └─ at a call of a transaction ┴─► begins ─► ends
//	                                                          │         │
//	                       Interpose ◄── faults on calls ─────┤      Heal (all)
//	                       Effects   ◄── faults of the rest ──┘
//
// Swarm: a kind is armed for a run with some probability only, so that a run has a
// few kinds in full instead of a little of everything; most faults wait for a call
// of a transaction, since transactions are short and nights are long.
//
// A Plan is a list, and each fault draws from a stream of its own: leaving one
// out changes nothing of the others, which is what shrinking needs.
package fault

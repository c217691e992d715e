// Package rollout carries out the plans of package plan, one policy at a time.
//
// It owns enactment specs, except for their secrets, and the status of policies, which
// nobody else writes. What it decides is all in the plan: this package gathers, makes
// sure that it has read what is there, and writes.
//
//	policy, nodes, enactments, pods ─► gather ─► plan.Make ─► grants, aborts, status
//	                    ▲                                              │
//	                    └────────────── until nothing differs ◄────────┘
//
// What it remembers of its own concerns time and lost replies only: for how long a node
// has not been Ready or has had no handler, by this process's clock, which grants
// may be there although nobody said so, and when a policy of many nodes was planned last:
// a plan looks at all of them, so that such a policy rests between two.
package rollout

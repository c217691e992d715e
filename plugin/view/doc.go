// Package view turns the objects of the API into what a person reads.
//
// It owns what is shown of a policy, a node, a plan and a drift, in which order and
// words, and what a script gets of it as JSON. It is pure: objects and the time go
// in, values and lines come out. It never reads an object, never writes to a
// terminal, and decides nothing about a rollout: it tells what the status says.
//
//	policy, enactments, states ─► Of ─► Policy ─┬─► Tree     lines for people
//	                                            ├─► Changes  one line per change
//	                                            ├─► End      what --wait ends with
//	                                            └─► JSON     for scripts
package view

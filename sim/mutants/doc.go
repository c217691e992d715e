// Package mutants proves that the simulator's rules can fail: it plants bugs in
// production code, one at a time, and the swarm has to find each by the rule
// that is there for it.
//
// A planted bug is a file patches/NAME.patch: what the bug is, which rule of
// sim/oracle finds it, within how many seeds, and a unified diff. It is put over
// the production files by `go build -overlay`, so production carries no hook:
//
//	patches/NAME.patch ──► Apply ──► copies ──► overlay.json ──► go build ./sim
//	                                                                │
//	   figures: seed, virtual time, rule ◄── rule complains ◄── swarm runs
//
// A patch finds its place by its context, not by line numbers, and fails loudly
// when that is not there exactly once: whoever changes the code that it is about
// makes it anew. The package never changes a file of the repository.
package mutants

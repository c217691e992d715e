// Command kubectl-nmstate is the kubectl plugin: "kubectl nmstate status" tells how
// policies fare, "why" what went wrong, "drift" what
// somebody else changed, "lint" what a node would refuse; "confirm", "pause" and "resume" are
// what a person decides.
//
// It owns the command line, the connection to the API server with kubectl's own
// flags, the terminal and the exit code. It never links what works on a node, so it
// builds for every system that kubectl does; what the objects say is in plugin/view,
// what a document says in plugin/lint.
//
//	objects ─► plugin/view ──► lines, JSON ─► standard output
//	file ────► plugin/lint ──► findings    ─► standard output
//	                           progress    ─► standard error
//
// Exit codes: 0 done, 1 failed, 2 usage, 3 waits for a person.
package main

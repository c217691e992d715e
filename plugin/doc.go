// Command kubectl-nmstate is the kubectl plugin. Before a change: "kubectl nmstate lint"
// finds what a node would refuse, "plan" shows what would change, "apply" applies that
// and nothing else, with --try only if somebody keeps it. While it is under way: "status",
// "why", and what a person decides, "confirm", "pause", "resume", "retry", "undo".
// Afterwards: "drift", "diff", "graph", "history", "cabling" and "get interfaces" look at
// the nodes, "ui" shows all of it in a browser, "serve" does so for a team, "report" collects it for a bug report.
// "check --pre" is for before an install.
//
// It owns the command line, the connection to the API server with kubectl's own
// flags, the terminal and the exit code. It never links what works on a node, so it
// builds for every system that kubectl does; what the objects say is in plugin/view,
// what a document says in plugin/lint, the page in plugin/ui, the archive in plugin/bundle.
//
//	objects ─► plugin/view ──► lines, JSON ─► standard output
//	file ────► plugin/lint ──► findings    ─► standard output
//	                           progress    ─► standard error
//
// Exit codes: 0 done, 1 failed, 2 usage, 3 waits for a person.
package main

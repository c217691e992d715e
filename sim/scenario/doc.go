// Package scenario is the language in which a person writes what happens to a
// cluster and what is expected of it, and the runner that carries it out.
//
// A scenario is a .txtar file: its comment is the script, one command a line,
// and its files are the manifests that the script names. The same file runs in
// the simulator and on the lab:
//
//	files/*.txtar ──Parse──► Scenario ──Run──► Backend ─┬─► the simulator (sim/cluster)
//	                         │                          └─► the lab (e2e/scenarios)
//	                         └─ commands.go, checks.go: all that can be said
//
// A script reads
//
//	nodes 3
//	apply bridge.yaml
//	await policy bridge Available '3/3 nodes successfully configured'
//	kill handler node1
//	expect same node1 since start
//
// # Words
//
// A word in single quotes is text: part of a message, or a line of the kernel's
// state. Everything else is a name. '#' begins a comment. await waits until a check holds, expect
// wants it at once, hold wants it all the time. NODES is a node, or "nodes" for
// each of them. The kernel's state is told in the form of picture.go ("link br1
// linux-bridge up"); a check's line needs to have its words only, in order.
//
// Lines between "each PHASE Applying Probing" and "end" are carried out for each of
// these phases in turn, which then stands where they say PHASE.
//
// # What it owns
//
// The language, its strict parser (an unknown command, a file that is missing
// or that nobody names is an error with file and line), the checks, which look
// only at API objects and at what a Backend tells of a node, and the picture of
// the end, by which two backends are compared. It never reaches into a model or
// a lab itself.
package scenario

// Package cluster is a whole small cluster on this machine: a lab whose nodes
// run the handler, the controllers beside it as they would run in a pod, and a
// client. The demo and the benchmarks stand on it.
//
//	machine                                     lab (package lab)
//	┌────────────────────────────────┐         ┌─────────────────────┐
//	│ controllers ──► API server ◄───┼─ proxy ─┤ node1 … handler, NM │
//	└────────────────────────────────┘         └─────────────────────┘
//
// It owns the controllers process, which it finds by its arguments as package
// lab finds its own: whatever died before, Down leaves nothing. It never looks
// at results and never prints.
package cluster

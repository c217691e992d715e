// Package redteam tries, with the token of one node's handler, what somebody would
// try who has root on that node: other nodes' objects, labels, owners, names, strange
// and huge statuses, floods, events about others, what the controllers may.
//
// It owns the list of attempts, each with what must come of it. It never looks at
// what the rest of the cluster makes of it: the suite runs it beside real handlers and
// controllers, and sees that the other nodes' rollouts go on.
//
//	Attempts ──Run──► rows ──Compare──► what was otherwise
//	    └───Table──► docs/security.md (a test keeps them alike)
package redteam

// Package guard decides which targets of a probe must answer after a change: of
// the default gateways, the name servers and the API server's addresses that
// answered before it, each one that is still in use, and what takes the place of
// one that is not.
//
// It owns the choice, per address family and per target, from what answered
// before, what the change says and what the node uses now. It is pure: it asks
// nobody, and keeps nothing between two tries.
//
//	before the change        after it, at each try
//	answered, silent ─┐      what the node uses ─┐
//	                  ├─► Demanded ◄─────────────┘
//	what it says ─────┘       └─► groups, of each of which one must answer
package guard

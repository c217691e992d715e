// Package state is the typed view of an nmstate network state: the document
// that a policy desires, that libnmstate applies and that a node reports.
//
// It owns parsing (a misspelt key or a wrong type is refused by name), typed
// access to what the product decides on (interfaces, addresses, routes, rules,
// DNS), comparison, and the report's filter. Whatever it does not model it
// carries through unchanged, in and out.
//
// It is pure: no I/O, no clock, no goroutine. It never talks to libnmstate and
// never decides what to do about a difference.
//
//	what a user wrote ──ParseDesired──► desired ─┬─Delta, Part──► what to apply
//	                                             │
//	                                          Missing ──► what does not hold
//	                                             │
//	what a node shows ─────Parse──────► current ─┼─Diff──► what a rollback left
//	                                             └─Report──► currentState
//
// Canonical is the one form that a desired document has once it was read: whatever
// compares, merges or applies documents is given that.
//
// Files: zz_generated.nmstate.go is what nmstate's source says that it reads,
// by_hand.go what that does not say, nmstate.go makes the schema of both, and
// desired.go checks a document against it; missing_*.go compare by meaning, as strictly as
// nmstate's own verification; value.go and normal.go hold the spellings that
// mean the same.
package state

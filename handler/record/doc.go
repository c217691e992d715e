// Package record says what the node remembers once a transaction has ended, or once it was
// decided that none begins. It is pure: a record and what happened go in, the next record
// comes out. The agent reads what it is about, calls it, and stores what comes out.
//
//	                          ┌─ a correction of drift: how often the thing was put right
//	record + what ended ──────┤
//	                          ├─ committed: the state, and what was there before it
//	                          ├─ a removal that failed for good: its configuration stays
//	                          └─ anything else: how it failed, and when it is tried again
//
// Rules that it keeps:
//   - what was there before a policy is remembered as long as the policy owns the setting,
//     and nothing of it afterwards;
//   - of a change that failed, what is committed stays as it was;
//   - a correction changes nothing of what the policies wanted and of how that went;
//   - nobody is left who could mend a removal: one that fails for good, or too often, is
//     over, and its configuration stays on the node.
package record

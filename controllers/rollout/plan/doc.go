// Package plan decides which nodes may apply a policy now, and what the policy's
// status says.
//
// It owns two pure functions. Make: a policy, the nodes and the enactments in;
// grants, aborts and the status out, with the reasons in words. Leave: the same for
// what a policy that is gone has left. It also says what it
// reads of an enactment (Reads, ReadsAlike). It never reads or writes an object, never
// looks at a clock, and remembers nothing: every call derives everything anew from its
// input.
//
// # A node's way through one generation of a policy
//
//	           grant                      Available=True
//	waiting ───────────► working ─────────────────────────► available
//	 │   ▲                  │ ▲                                 (slot free)
//	 │   │ fewer fail       │ │ retried
//	 │   │ than the limit   ▼ │
//	 ▼   │               failing   Failing=True: keeps its slot,
//	aborted                        so a bad policy stops by itself
//	 as many nodes fail as may be unavailable
//
// # Slots
//
// A slot is the right to be changing. maxUnavailable of the matching nodes may
// have one. Slots are derived, never counted up and down: a node holds one
// while its enactment is approved for the policy's generation and not
// Available at that generation. A deleted node has no enactment that counts,
// so its slot is free.
//
// An older generation gives no right to the new one, but a node on which it is
// still being applied is changing all the same, so it occupies a slot until
// its enactment tells that it has ended. Such a node is granted the new
// generation first, since that takes nothing away from the others.
//
// A node on which the generation comes to what it has committed changes
// nothing: it is granted without a slot, for that rendering only. One that has
// committed the generation and comes out differently now, since a variable
// changed there, waits for a slot again.
//
// # Nodes that cannot answer
//
// A node without a NodeNetworkState has no handler. It gets none of the turns, and
// after a grace nobody waits for it: it is not managed. As long as its handler may
// still come it is waited for. A node whose handler's pod has not been Ready for the
// grace, and one that is set aside, count as not managed, too.
//
// A granted node that has not been Ready, or has had no handler, for longer than a
// change can be on trial is lost. It counts as one that fails, but the first one of them gives its slot back, so
// that one dead machine stops nobody. When it answers again it has its slot again.
//
//	working ── no answer for the grace and the probe window ──► lost
//	   ▲                                                          │
//	   └────────────── Ready, and its handler runs ───────────────┘
//
// # Steps
//
//	canary ───────────────► pause ──────────► the others
//	the first N nodes, each  until a person    as many as there are slots;
//	configured and soaked    removes it        a soaking node keeps its slot
//
// Which nodes are canaries is written nowhere: those that begin first are, and
// a node that has what the generation comes to counts as one. So an edit that
// only lets the rollout go on finds them done, and one that changes the state
// begins with the canary stage again. As long as it lasts one failing canary
// node aborts the rest. Paused, nothing is granted that needs a slot; what is
// under way goes on.
//
// In mode Plan nothing is granted at all: the status collects the plans.
//
// # Nodes that a policy leaves
//
//	           Leave                    the enactment is gone
//	waits ───────────────► undoes ──────────────────────────► (slot free)
//	 to leave                │ ▲
//	                         ▼ │
//	                       failing, until the node gives up
//
// What a policy with onDelete: Revert has configured is undone by turns: of the nodes
// that it leaves maxUnavailable at a time. A node asks (status.waitsToLeave), and holds
// its slot from the grant (spec.leave) until its enactment is gone.
//
// # What Make relies on
//
// An enactment shows Progressing while a transaction of any generation of the
// policy is open on the node, also when status.policyGeneration has moved on to
// a newer one. The policy handler begins a generation only after it has read
// the policy from the API server at that very generation and found it approved.
//
// status.hash is of status.policyGeneration as it comes out on the node, and
// empty while that is not known. The policy handler begins nothing that has
// another hash than a spec.approvedHash that is there, and nothing that differs
// from what it has committed of the same generation without that approvedHash.
package plan

// Package desired decides for the policy handler: which policies a node gets,
// what they come to on that node, and what is written next.
//
// It is pure: objects and the time go in, writes come out. It never reads or writes
// an object, never sleeps and never talks to libnmstate.
//
// # The way of a policy to a node
//
// Somebody applies a policy that makes a bond on every node of a rack.
//
//  1. Selects: does the policy select this node?
//  2. Variables and Match: what do its variables mean here, and which interfaces
//     does it match?
//  3. Expand, or AutoConfigure: the templates are filled in.
//  4. Render: the text becomes a state, checked and in canonical form. A mistake
//     fails the enactment here, before the node is touched.
//  5. Decide creates the enactment. It stays Pending until the controllers grant the
//     policy's change on this node: maxUnavailable says how many nodes may change.
//  6. Decide merges the policy with those that are committed here already, in one
//     total order. Two that want different values are a conflict: the one that
//     comes later waits, and its enactment names the other one and the path.
//  7. Decide chooses one policy whose turn it is, and writes the merged state to
//     NodeNetworkState.spec. From now on the change is in flight. A node makes one
//     change at a time.
//  8. The agent applies and probes it, and reports Committed or why it went back.
//  9. Decide records that in the enactment, Available or Failing, before it writes
//     the next spec. A change that failed leaves the spec, and is tried again later.
//
// When the policy is deleted, its part leaves the spec in the same way, and the
// enactment is deleted last.
//
//	policies ─► Selects ─► Variables ─► Match ─► Expand | AutoConfigure ─► Render
//	                                                                         │
//	                               ┌─────────────────────────────────────────┘
//	enactments (what is committed) ├─► Decide ─► Decision{Create, Statuses, Spec, Delete}
//	NodeNetworkState ──────────────┘      │
//	                                      ├── Merge (a fold in one total order), owned (paths)
//	                                      └── Plan (what would change, and how it hurts)
//
// # A policy on one node
//
//	           approved, its turn            Committed
//	Pending ─────────────────────► in flight ─────────► committed (Available)
//	   ▲                            │  │  ▲                  │ new generation
//	   │ edited: superseded         │  │  │ retry is due     ▼
//	   └────────────────────────────┘  ▼  │               Pending, the old
//	                                Failing               generation holds
//
// In mode Plan a policy stays Planned beside what is committed of it, and is
// planned again with each report. A plan that is pinned must be the current one
// when the policy is chosen; from then on it is kept as it was.
//
// "In flight" is a source of NodeNetworkState.spec that no enactment has
// committed: there is never more than one. What is committed stands in the
// enactments, so that a crash between any two writes loses nothing.
package desired

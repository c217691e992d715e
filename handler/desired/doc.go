// Package desired is what the policy handler decides: which policies a node
// gets, what they come to on that node, and what is written next.
//
// It owns selection, rendering, the merge of several policies with what each
// owns of it, the plan of a change, and the choice of the one change that the
// node makes now. It is pure: objects and the time
// go in, writes come out. It never reads or writes an object, never sleeps and
// never talks to libnmstate.
//
//	policies ─► Selects ─► Variables ─► Match ─► Expand | AutoConfigure ─► Render
//	                                                                         │
//	                               ┌─────────────────────────────────────────┘
//	enactments (what is committed) ├─► Decide ─► Decision{Create, Statuses, Spec, Delete}
//	NodeNetworkState ──────────────┘      │
//	                                      ├── Merge (a fold in one total order), owned (paths)
//	                                      └── Plan (what would change, and how it hurts)
//
// A policy on one node:
//
//	           approved, its turn            Committed
//	Pending ─────────────────────► in flight ─────────► committed (Available)
//	   ▲                            │  │  ▲                  │ new generation
//	   │ edited: superseded         │  │  │ retry is due     ▼
//	   └────────────────────────────┘  ▼  │               Pending, the old
//	                                Failing               generation holds
//
// In mode Plan a policy stays Planned beside what is committed of it, and is
// planned anew with each report. A plan that is pinned must be the fresh one
// when the policy is chosen; from then on it is kept as it was.
//
// "In flight" is a source of NodeNetworkState.spec that no enactment has
// committed: there is never more than one. What is committed stands in the
// enactments, so that a crash between any two writes loses nothing.
package desired

// Package install is the operator: it installs handler and controllers as an NMState
// object says, keeps them so, and tells in the object's status how they fare.
//
// It owns NMState.status and every object that it installs. It never changes a
// policy, a NodeNetworkState or a node's network, and it removes nothing: each object
// has the NMState as its owner, so the API server's garbage collector takes all of
// them away when the NMState is deleted, also where no operator runs any more.
//
//	NMState.spec ──┐
//	               ├─Render─► objects ──server-side apply──► API server
//	manifests/*  ──┘                                            │
//	NMState.status ◄─Conditions── DaemonSet, Deployment ◄───────┘
//
// Without an operator the controllers answer for NMState objects (Absent): that
// nobody installs by them.
package install

// Package apiserver is the API server that simulated processes talk to: the
// kinds that the product uses, with the semantics that it relies on, in memory
// and on the world's clock.
//
// It owns the objects, their revisions and generations, watches, caches that
// lag behind, owner garbage collection, and the client that production code is
// given. It knows no network (Connection.Reach is told by whoever models it),
// makes no faults of its own (Faults), and judges nothing (Store.Written tells
// whoever does). What it does not model panics with its name: nothing is
// silently accepted.
//
//	            Store: objects that never change, one revision
//	       ┌──────────┬──────────────┬───────────────────────┐
//	Direct │ no delay │ Connection   │ Process.Call, Reach   │ streams, Faults
//	       ▼          ▼              ▼                       ▼
//	 the outside   Client.Live   Client: writes        Cache: one view for each kind
//	 (people,                        │  cached reads ───────►┘ lags behind; events
//	 kubelets)                       └──────────────────────────► Cache.Subscribe
//
// Stored objects are immutable and shared: by views whose transform leaves
// them alone, by events, and by reads with UnsafeDisableDeepCopy. Whoever gets one
// there must not change it.
//
// The package conformance has the semantics as sentences, and runs on a real
// API server too.
package apiserver

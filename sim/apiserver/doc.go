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
// # How it is kept honest
//
// The package conformance has the semantics as sentences, and runs on a real
// API server with its garbage collector too; e2e/apiserver also sends drawn
// requests to both and compares all that comes out. Beyond these:
//
//   - what a watch does in an outage is after client-go's reflector: a connection that
//     holds brings everything, one that broke is dialled with a backoff from 800 ms
//     to 30 s, and where etcd has compacted meanwhile (5 minutes) the
//     list shows many versions as one;
//   - how a request fares without a network is after handler/main.go and
//     probe.Dial: hanging until the connection is lost, then a short dial;
//   - how a consistent client waits is after controller-runtime's own handler.
//
// # What it does not have
//
// Of the schema in deploy/crds it has the defaults, and that what a patch adds is
// whole; it refuses no value (lengths, patterns, CEL rules), so only what
// api/v1's contract test accepts should be given to it. Managed fields are
// those of a NodeNetworkState's desired state. There are no namespaces but that of the handlers' pods, no
// admission, no server-side apply, no priority and fairness.
package apiserver

// Package suite shows on the lab what the product promises when things go
// wrong: handlers, NetworkManager, the API server and whole nodes are killed at
// every point of a policy's way, and afterwards the node is either as the
// policy says or byte for byte as it was.
//
//	policy ─► API server ─► handler ─► NetworkManager ─► kernel
//	  edit      stop          kill -9     kill -9          ▲
//	  delete    cut           (phase)     freeze           └─ the oracle, read from outside
//
// Everything in it is a test and runs the real programs; nothing in the product
// knows of it. A spec finds the moment to strike in the handler's log. What a
// failed spec leaves behind is copied to artifacts/.
//
// go test ./e2e/suite -v -ginkgo.focus "NetworkManager" runs a part. The
// programs are built by hack/build.sh, unless NMSTATE_BIN names a folder that
// has handler, controllers and nmstate-revert.
package suite

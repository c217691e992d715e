// Package docs is the tests of the documentation: what is written there is
// tried, so that nobody copies an example that does not work.
//
// Every example is a file in examples/ (or a report of a real node in demos/)
// and stands in the text word for word. Its desired state passes the same
// parser as a policy's, the API server takes it, and what the text says about a
// refused one is what the parser answers. Links lead somewhere. The package
// never ships.
//
//	guide.md ── ```yaml block ══ examples/X.yaml ──► handler/state, API server
package docs

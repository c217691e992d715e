// Package docs is the tests of the documentation: what is written there is
// tried, so that nobody copies an example that does not work.
//
// Every example is a file in examples/ (or a report of a real node in demos/)
// and stands in the text word for word. Its first line says what comes of it on
// the lab, and e2e/suite tries that. Its desired state, once its templates are
// filled in, passes the same parser as a policy's, and the API server takes it.
// Links lead somewhere. The package never ships.
//
//	guide.md ── ```yaml block ══ examples/X.yaml ──► handler/state, API server, lab
package docs

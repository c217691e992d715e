// Package lint finds what a node or the API server would refuse in a manifest, and on
// which line it stands.
//
// It owns the way from a line of YAML to a mistake and back. What a mistake is, decide
// the handler's own parser (handler/state), the templates' (handler/desired) and the
// API's types (api/v1). It is pure: text goes in, findings come out. What depends on a
// node or a cluster it cannot know: whether an interface is there, what a capture
// finds, and the rules that only the API server has.
//
//	YAML ─► documents ─┬─► fields of the kind ──┐
//	                   ├─► desired state ───────┼─► path ─► line ─► Finding
//	                   └─► templates, probes ───┘
package lint

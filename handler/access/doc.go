// Package access lets to the metrics whom the API server lets: the caller's
// token is reviewed there, and so is whether its owner may get the path.
//
// It owns that question, and the readiness that both programs have in common. It
// remembers the answer for a minute, so that a node
// that is asked for its metrics every few seconds does not ask the API server
// each time. It never decides anything itself, and lets nobody in while the API
// server cannot be asked.
//
// Callers with made-up tokens make it ask little: one question a second from each
// address, and 20 from all of them together. Whoever was let in within the last hour is
// asked about again whatever they do.
//
// controller-runtime has a filter that does the same with the API server's own
// libraries; they would make each node's handler larger by half (20 MB).
//
//	request ──token──► TokenReview ──user──► SubjectAccessReview ──► metrics
//	          none: 401       refused: 401               denied: 403
//	          too many: 429
package access

// Package monitoring tests the alerts and the dashboard of deploy/components/monitoring:
// that each alert fires when it should and not otherwise, by Prometheus' own promtool,
// has a section in docs/runbooks.md, and that all of them name only metrics that exist.
//
// Everything in it is a test.
package monitoring

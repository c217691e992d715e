// Package skipped tells which specs of a Ginkgo suite were skipped, and why, in
// lines that go test prints as they are:
//
//	Ginkgo's report ─► Lines ─► [SKIPPED] needs bond: no such link (spec: Example 103-bond)
//
// The lines are for people and for hack/testsummary, which joins them by
// reason. The package prints nothing and decides nothing: what a spec needs,
// and whether a skip is a failure, is the suites' business.
package skipped

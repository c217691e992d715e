// Command testsummary reads the JSON of `go test -json` runs from its standard
// input and tells a person what happened: one line for each package as it ends,
// and at the very end the failed tests with their output, what was skipped and
// why, and the counts.
//
// Lines that are not JSON are the words of the script that runs the stages:
//
//	== unit tests           a stage begins
//	skip: WHAT: REASON      a whole stage could not be run
//	exit status N: COMMAND  a command failed, whatever its tests said
//	anything else           is printed as it is
//
// It exits 1 when anything failed. With NMSTATE_STRICT=1 a stage that could not
// be run is a failure too; tests decide that for themselves. It never runs a
// test and never reads a clock: times are those that go test reports.
package main

// Package conformance is the contract of probe.Prober as a test suite, which
// every implementation passes: the live one against namespaces, the simulated
// one against its world.
//
// It owns what a Prober must keep to. It never makes a network, and never says
// how long a probe takes beyond what its context allows.
package conformance

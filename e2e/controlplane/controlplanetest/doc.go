// Package controlplanetest gives tests a control plane, or skips them where
// there is none to be had without a long build.
//
// It owns that rule and the polling of tests; it never runs outside of tests.
package controlplanetest

// Package timeline is the test of the simulator's timeline in a browser, where
// people read it: a headless Chromium opens pages of small and of large records,
// works on them as a person would, and counts what is there.
//
// It owns no production code and it never asserts on pixels; the pictures that
// it leaves in artifacts/ are for people.
//
//	trace.Record ─► page.html + testdata/check.js ─► Chromium ─► what it found ─► compared with the Record
package timeline

// Package page is the test of kubectl nmstate ui as people see it: the real program on a
// real API server with the objects of a fleet, in a headless Chromium.
//
// It fails on an error in the browser's console and on a request to another host, looks
// at each view, follows a change that comes by a watch, and uses the keyboard. It leaves
// pictures in artifacts/page. The package never ships; what a page says is tested in
// plugin/ui.
package page

// Package chromium is a headless Chromium for tests of pages.
//
// It owns the browser, and what went wrong in it: an error or a warning in its console, an
// exception, a request to another host than the page's. What a page shall be is the
// test's.
package chromium

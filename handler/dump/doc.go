// Package dump reads the kernel's lists of links, addresses and routes whole. The kernel
// tells a list in pieces, and marks it when it changed in between: such a list may lack
// something that was there all the time. On a node where pods come and go that happens
// every day, so it is no reason to refuse a policy.
//
// The package reads nothing by itself and never waits.
package dump

// Package deadline bounds a task by the clock that the product runs on, and
// waits on it, so that a simulated hour takes no hour.
//
// It owns contexts that end after a time, and the port Clock. It starts no
// goroutine of its own. What bounds only a socket or a pipe of this machine
// stays with package context.
package deadline

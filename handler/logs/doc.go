// Package logs makes the logger of the programs that run for long: lines for a
// person at a terminal, JSON for what collects logs. It never decides what is
// logged.
package logs

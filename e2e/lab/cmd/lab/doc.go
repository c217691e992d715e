// Command lab is package lab for people: it builds emulated nodes, lets one
// look into them and break them, and takes them down.
//
// It owns flags, progress lines, tables and exit codes (0 done, 1 failed, 2 this
// machine cannot or a file is no report of a node, 130 interrupted; those of
// `lab exec` are the program's own).
// It never does anything to a lab that package lab does not offer to tests too.
package main

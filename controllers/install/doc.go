// Package install answers for the NMState kind, with which the older project
// installs its handler. Ours is installed with kubectl for now, and the package
// says so in the object's status, once for each generation, instead of leaving
// it without an answer.
//
// It owns NMState.status and never installs, changes or removes anything.
package install

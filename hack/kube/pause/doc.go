// Command pause is the first process of every pod: it holds the pod's
// namespaces, reaps children that lost their parent, and ends when told to. It
// is a program by itself, since each pod would pay for the start of a larger one.
package main

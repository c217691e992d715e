// Command demo shows the product in two minutes: a real control plane, three lab
// nodes, a policy that is applied, one that cuts a node off and is taken back by
// the node alone, and one whose node loses its power in mid-trial. It is what `make demo` runs (hack/demo.sh builds
// what it needs).
//
//	control plane ─► nodes ─► reports ─► bridge.yaml ─► cut-off.yaml ─► power.yaml ─► down
//	                                     Available      rolled back     forgotten by a boot
//
// It owns the story, its words and its checks: what it says it has seen, and
// what it has not seen ends it with exit code 1. `demo down` ends one that was
// kept. It never changes anything but its lab and out/demo.
package main

// Package rebuild makes a lab's topology of what nodes have reported, so that a
// node of some other place stands in the lab.
//
//	reports ─► Read ─► Plan ─┬─► Node.Wanted ─► libnmstate ─► Fill ─► Topology
//	                         └─► Node.Left, what is not rebuilt
//
// The NICs and the switches are told from the reports; everything on the NICs is
// in NetworkManager profiles, which libnmstate generates from Node.Wanted. Compare
// tells what a rebuilt node reports differently.
//
// The package is pure: who reads files and runs programs is cmd/lab.
package rebuild

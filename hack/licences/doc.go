// Command licences prints the licences of everything that the released programs are
// linked with, as their authors wrote them: the Go modules, the Rust crates of
// nmstate-revert and libnmstate, and the parts of the distribution's C library that the
// images hold. It fails if one has no licence that it finds.
//
//	go run ./hack/licences >THIRD_PARTY_LICENSES.txt
package main

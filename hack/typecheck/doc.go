// Command typecheck says whether the code compiles for another system, tests
// included, without compiling anything: packages of dependencies are read for
// what they declare only. `go vet` and `go build` would first compile all of them
// for that system, which takes minutes on a machine that has never done so.
//
//	go run ./hack/typecheck darwin
//	go run ./hack/typecheck windows ./plugin/...
//
// Exit codes: 0 it does, 1 it does not, 2 wrong usage. It never writes anything.
package main

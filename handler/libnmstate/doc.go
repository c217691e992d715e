// Package nmstate binds nmstate's C library, libnmstate.
//
// Its exported API is that of nmstate's own Go binding,
// github.com/nmstate/nmstate/rust/src/go/nmstate, so that an import line swaps
// one for the other, plus the calls that the C library has beyond it
// (GenerateDifferences, NetStateFromPolicy, FormatNetState, ValidateNetState)
// and errors that keep nmstate's kind. hack/adr/0004-libnmstate.md says why it
// exists.
//
// It owns the memory that crosses the border and nothing else: it never
// decides, retries or watches a clock, and it understands no state.
//
// The library is linked only with the build tag nmstate (and cgo). Without it
// every call fails with ErrNotBuilt, so that everything builds and tests on a
// machine that has no libnmstate.
//
// A call blocks its OS thread until libnmstate is done, which for an apply may
// be minutes, and cannot be cancelled: whoever needs that calls from a process
// that may be killed. It works in the network namespace of the calling thread;
// who has moved a thread keeps it locked around the call. Calls may run
// concurrently, but the library's log is one per process and then mixes.
package nmstate

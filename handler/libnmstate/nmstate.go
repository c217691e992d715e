package nmstate

import (
	"io"
	"time"
)

// Nmstate is a set of options for calls to libnmstate. It holds no resource
// and may be used by several goroutines if its logs writer may.
type Nmstate struct {
	timeout    uint32 // seconds; zero is a checkpoint that never expires
	logsWriter io.Writer
	flags      uint32
}

// The flags of nmstate.h. Bit 0 means nothing there.
const (
	kernelOnly uint32 = 2 << iota
	noVerify
	includeStatusData
	includeSecrets
	noCommit
	memoryOnly
	runningConfigOnly
)

// New returns an Nmstate with the options given.
func New(options ...func(*Nmstate)) *Nmstate {
	n := &Nmstate{}
	for _, option := range options {
		option(n)
	}
	return n
}

func with(flag uint32) func(*Nmstate) {
	return func(n *Nmstate) { n.flags |= flag }
}

// WithTimeout sets how long the checkpoint of an apply lives after the last
// step of the apply, in whole seconds (rounded down). Zero, the default, is a
// checkpoint without an end.
func WithTimeout(timeout time.Duration) func(*Nmstate) {
	return func(n *Nmstate) { n.timeout = uint32(timeout / time.Second) }
}

// WithLogsWritter (spelt as in nmstate's own binding) sets where libnmstate's
// log of each call goes: one JSON array per call, with a line feed.
func WithLogsWritter(logsWriter io.Writer) func(*Nmstate) {
	return func(n *Nmstate) { n.logsWriter = logsWriter }
}

// WithKernelOnly leaves NetworkManager and its D-Bus out of it.
func WithKernelOnly() func(*Nmstate) { return with(kernelOnly) }

// WithNoVerify applies without reading the result back.
func WithNoVerify() func(*Nmstate) { return with(noVerify) }

// WithIncludeStatusData retrieves what cannot be configured too.
func WithIncludeStatusData() func(*Nmstate) { return with(includeStatusData) }

// WithIncludeSecrets retrieves passwords instead of their placeholder.
func WithIncludeSecrets() func(*Nmstate) { return with(includeSecrets) }

// WithNoCommit leaves the checkpoint of a successful apply armed.
func WithNoCommit() func(*Nmstate) { return with(noCommit) }

// WithMemoryOnly applies what is gone after a reboot.
func WithMemoryOnly() func(*Nmstate) { return with(memoryOnly) }

// WithRunningConfigOnly retrieves no dynamic addresses, routes or neighbours.
func WithRunningConfigOnly() func(*Nmstate) { return with(runningConfigOnly) }

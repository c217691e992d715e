package conformance

import (
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
)

// Node is a node that a backend configures, seen from outside. Every case gets
// a new one, or one that is as new. No checkpoint is alive on it.
type Node interface {
	// Backend is the backend under test.
	Backend() backend.Backend

	// NIC is an Ethernet interface that is up, is not made by the backend,
	// and has the address 192.0.2.1/24 and a default route by 192.0.2.254.
	NIC() string

	// Kernel tells what is on the node: links, addresses and routes, in an
	// order and a form that are equal if and only if the network is the same.
	// It does not ask the backend, and leaves out what comes and goes by
	// itself (link-local addresses, lifetimes, counters, indexes).
	Kernel(t *testing.T) string

	// ForeignCheckpoint makes a checkpoint as somebody else would, which
	// undoes itself after the time, and tells its name.
	ForeignCheckpoint(t *testing.T, rollbackAfter time.Duration) backend.Checkpoint

	// RestartNetworkManager ends NetworkManager at once and starts another: all
	// checkpoints are lost, and what was in the kernel and in /run stays. It
	// returns when the new one answers and has brought up what it brings up.
	RestartNetworkManager(t *testing.T)

	// Reboot cuts the power and starts the node again: what is on disk is all
	// that it knows. It returns when NetworkManager answers and has brought up
	// what it brings up.
	Reboot(t *testing.T)

	// Eventually lets time pass, within reason, until done.
	Eventually(t *testing.T, what string, done func() bool)
}

package scenario

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InPhase is a Backend that waits for a phase and stops or kills a part in it at one go:
// what comes after Enter may come too late there. It says false where it leaves that to
// Enter and Process.
type InPhase interface {
	ProcessIn(ctx context.Context, verb, part, node, phase string) (done bool, err error)
}

// Backend is a cluster that a scenario runs on, at its beginning: every node
// reported, no policy. What a backend cannot do it refuses by name.
type Backend interface {
	// Client is a person's, with all rights; it reads what is, not a cache.
	Client() client.Client
	// Elapsed is the time since the beginning, and Patience how long something
	// is waited for unless the script says otherwise.
	Elapsed() time.Duration
	Patience() time.Duration
	// Until lets time pass until done says so, and tells whether it did within d.
	Until(ctx context.Context, d time.Duration, done func() (bool, error)) (bool, error)

	// Kernel is a node's links, addresses, routes and name servers in the form
	// of picture.go, sorted.
	Kernel(ctx context.Context, node string) ([]string, error)
	// Snapshot is all that must come back when a change is taken back. Equal
	// texts mean an equal state.
	Snapshot(ctx context.Context, node string) (string, error)
	// Phase of the transaction that is open in the node's journal; "Idle" for none.
	Phase(ctx context.Context, node string) (string, error)
	// Enter waits until a transaction of the node has entered the phase since
	// the last Watch; what is done next is done in it, if it lasts.
	Enter(ctx context.Context, node, phase string) error
	// Watch begins to note the phases of all nodes.
	Watch(ctx context.Context) error
	// Applies counts the checkpoints that NetworkManager was asked for.
	Applies(ctx context.Context, node string) (int, error)
	// Writes counts what the product has written to the API, events included,
	// and lists the last ones.
	Writes(ctx context.Context) (count int, last string, err error)

	// Told are the events about an object of a kind.
	Told(ctx context.Context, kind, name string) ([]Told, error)

	// Process carries out start, stop, kill or restart. A killed one is started
	// again, as a DaemonSet and a Deployment do. The part is "handler",
	// "controllers" (of no node), "networkmanager" or "apiserver" (of no node).
	Process(ctx context.Context, verb, part, node string) error
	// Reboot the node.
	Reboot(ctx context.Context, node string) error
	// Mode brings the cluster into centralized mode or out of it.
	Mode(ctx context.Context, centralized bool) error
	// Ready is what the kubelet says of its Node from now on.
	Ready(ctx context.Context, node string, ready bool) error
	// Once runs a single pass of the node's handler, whose daemon is stopped;
	// it tells the exit code and the last words.
	Once(ctx context.Context, node string) (code int, said string, err error)
	// Forget takes away what the node's handler, which is stopped, has on its disk.
	Forget(ctx context.Context, node string) error
	// Cut takes the api, the gateway or dns out of reach, for a node or, when
	// it is empty, for all. Heal takes back all cuts.
	Cut(ctx context.Context, what, node string) error
	Heal(ctx context.Context) error
	// Claim has another host of a switch use an address, or not any more.
	Claim(ctx context.Context, on, address string, is bool) error
	// DHCP sets how a switch's server is: "silent", "answers", or "other" with the
	// range that it leases.
	DHCP(ctx context.Context, on, how, leases string) error
	// Disk sets how a node's disk is: "full", "read-only" or "writable".
	Disk(ctx context.Context, node, how string) error
	// Clock steps the clock of all nodes.
	Clock(ctx context.Context, by time.Duration) error
	// Carrier of a NIC.
	Carrier(ctx context.Context, node, nic string, up bool) error
	// Plug puts a NIC in that was pulled out, or pulls it out.
	Plug(ctx context.Context, node, nic string, in bool) error
	// Drift changes the node by hand, past the product: "mtu eth1 1300",
	// "address add eth1 198.18.0.5/24", "address del ...", "route add DST via GW
	// dev NIC", "route del ...", "link add NAME bridge", "link del NAME".
	Drift(ctx context.Context, node string, change []string) error
	// AddNode joins node number i to the cluster, RemoveNode takes one out of it.
	AddNode(ctx context.Context, number int) error
	RemoveNode(ctx context.Context, node string) error
}

// Told is an event.
type Told struct{ Reason, Message string }

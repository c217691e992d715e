package host_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/backend"
	"github.com/nmstate/kubernetes-nmstate/handler/backend/conformance"
	"github.com/nmstate/kubernetes-nmstate/handler/profiles"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

func prefixes(written ...string) []netip.Prefix {
	var found []netip.Prefix
	for _, one := range written {
		found = append(found, netip.MustParsePrefix(one))
	}
	return found
}

// node is a world with one host and one process, seen through plain blocking
// calls: each is a coroutine, for which the world runs until it ends.
type node struct {
	world   *world.World
	host    *host.Host
	process *world.Process
}

func newNode(t *testing.T, options host.Options) *node {
	t.Helper()
	w := world.New(1)
	return &node{world: w, host: host.New(w, "node1", options), process: w.Process("handler")}
}

// static is the suite's NIC, with a profile.
func static() host.Options {
	return host.Options{NICs: []host.NIC{{
		Name: "eth1", Profile: true, Addresses: prefixes("192.0.2.1/24"), Gateways: []netip.Addr{netip.MustParseAddr("192.0.2.254")},
	}}}
}

// call runs the world until the call is over.
func (n *node) call(t *testing.T, do func()) {
	t.Helper()
	over := false
	n.process.Go("call", func() { do(); over = true })
	for range 1000 {
		if err := n.world.RunUntil(n.world.Elapsed()+time.Minute, func() bool { return over }); err != nil {
			t.Fatal(err)
		}
		if over {
			return
		}
	}
	t.Fatal("the call does not end")
}

func TestConformance(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Node { return &conforming{newNode(t, static()), t} })
}

type conforming struct {
	*node
	t *testing.T
}

func (c *conforming) Backend() backend.Backend {
	return blocking{c.node, c.t, c.host.Backend(c.process)}
}
func (c *conforming) NIC() string              { return "eth1" }
func (c *conforming) Kernel(*testing.T) string { return c.host.Kernel() }

func (c *conforming) ForeignCheckpoint(t *testing.T, rollbackAfter time.Duration) backend.Checkpoint {
	t.Helper()
	made, ok := c.host.ForeignCheckpoint(rollbackAfter)
	if !ok {
		t.Fatal("NetworkManager makes no checkpoint")
	}
	return made
}

func (c *conforming) RestartNetworkManager(t *testing.T) {
	t.Helper()
	c.host.RestartNetworkManager(200 * time.Millisecond)
	c.run(t, time.Second)
}

func (c *conforming) Reboot(t *testing.T) {
	t.Helper()
	c.host.Reboot(time.Minute)
	c.run(t, 2*time.Minute)
}

func (c *conforming) Eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 600 {
		if done() {
			return
		}
		if err := c.world.RunFor(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("waited a minute in vain: %s", what)
}

// blocking is a backend whose calls run the world.
type blocking struct {
	node    *node
	t       *testing.T
	backend backend.Backend
}

func (b blocking) Show(ctx context.Context) (s state.State, err error) {
	b.node.call(b.t, func() { s, err = b.backend.Show(ctx) })
	return s, err
}

func (b blocking) Apply(ctx context.Context, desired state.State, life time.Duration, armed func(backend.Checkpoint)) (c backend.Checkpoint, held profiles.Files, err error) {
	b.node.call(b.t, func() { c, held, err = b.backend.Apply(ctx, desired, life, armed) })
	return c, held, err
}

func (b blocking) Profiles(ctx context.Context) (s profiles.Snapshot, err error) {
	b.node.call(b.t, func() { s, err = b.backend.Profiles(ctx) })
	return s, err
}

func (b blocking) Devices(ctx context.Context) (found []profiles.Device, err error) {
	b.node.call(b.t, func() { found, err = b.backend.Devices(ctx) })
	return found, err
}

func (b blocking) Do(ctx context.Context, action profiles.Action) (err error) {
	b.node.call(b.t, func() { err = b.backend.Do(ctx, action) })
	return err
}

func (b blocking) Commit(ctx context.Context, c backend.Checkpoint) (err error) {
	b.node.call(b.t, func() { err = b.backend.Commit(ctx, c) })
	return err
}

func (b blocking) Rollback(ctx context.Context, c backend.Checkpoint) (err error) {
	b.node.call(b.t, func() { err = b.backend.Rollback(ctx, c) })
	return err
}

func (b blocking) Pending(ctx context.Context) (found []backend.Pending, err error) {
	b.node.call(b.t, func() { found, err = b.backend.Pending(ctx) })
	return found, err
}

func (b blocking) Instance(ctx context.Context) (instance string, err error) {
	b.node.call(b.t, func() { instance, err = b.backend.Instance(ctx) })
	return instance, err
}

func (b blocking) Revert(ctx context.Context, desired, current state.State) (s state.State, err error) {
	b.node.call(b.t, func() { s, err = b.backend.Revert(ctx, desired, current) })
	return s, err
}

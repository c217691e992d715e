package network_test

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/clock"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/handler/probe/conformance"
	"github.com/nmstate/kubernetes-nmstate/sim/network"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// driven runs a world for a test that knows nothing of it: each call is a
// coroutine of the process, and time passes while the test waits.
type driven struct {
	clock.WithDelayedExecution

	mu      sync.Mutex
	world   *world.World
	process *world.Process
	prober  probe.Prober
}

func (d *driven) Names() []string { return d.prober.Names() }

func (d *driven) Probe(ctx context.Context, name string) error {
	return d.run(func() error { return d.prober.Probe(ctx, name) })
}

func (d *driven) run(ask func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	done := false
	d.process.Go("probe", func() { err = ask(); done = true })
	if failed := d.world.RunUntil(d.world.Elapsed()+time.Hour, func() bool { return done }); failed != nil {
		return failed
	}
	return err
}

func (d *driven) Targets(ctx context.Context, name string) ([]guard.Target, error) {
	return d.prober.Targets(ctx, name)
}

func (d *driven) Ask(ctx context.Context, name string, groups [][]netip.Addr) error {
	return d.run(func() error { return d.prober.Ask(ctx, name, groups) })
}

func (d *driven) pass(duration time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.world.RunFor(duration) // A failure is told by the next probe.
}

// NewTimer has the time passed already.
func (d *driven) NewTimer(duration time.Duration) clock.Timer {
	d.pass(duration)
	return passed{}
}

// Wait lets the time pass.
func (d *driven) Wait(ctx context.Context, _ <-chan struct{}, duration time.Duration) bool {
	if ctx.Err() == nil {
		d.pass(duration)
	}
	return ctx.Err() == nil
}

type passed struct{}

func (passed) C() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}
func (passed) Stop() bool               { return false }
func (passed) Reset(time.Duration) bool { return false }

func TestTheProberKeepsTheContract(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Subject {
		w := world.New(1)
		c, stations := fleet(w, network.Nodes(1, 1))
		p := w.Process("node1")
		ready := true
		prober := c.Prober(p, stations[0], network.ProberOptions{
			API: c.Nodes[0].API, Node: "node1", Ready: func(context.Context) (bool, error) { return ready, nil },
		})
		d := &driven{WithDelayedExecution: p.Clock(), world: w, process: p, prober: prober}
		return conformance.Subject{
			Prober: d, Clock: d,
			Targets: []string{
				"ping 192.0.2.1", "ping 2001:db8::1", "ping gateway.lab.example", "dns gateway.lab.example",
				"tcp gateway.lab.example:8080", "http http://gateway.lab.example:8080/", "tcp 192.0.2.1:7",
			},
			Cut:  func(string) { ready = false; c.Gateway.SetPower(false) },
			Mend: func(string) { ready = true; c.Gateway.SetPower(true) },
		}
	})
}

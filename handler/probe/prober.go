package probe

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/nmstate/kubernetes-nmstate/handler/guard"
)

// Names of the default probes.
const (
	// DefaultGateway passes when a default gateway of the main routing table
	// answers a ping.
	DefaultGateway = "default-gateway"
	// DNS passes when one of the host's name servers resolves the probe's host.
	DNS = "dns"
	// APIServer passes when the Kubernetes API server answers on a new connection.
	APIServer = "api-server"
	// NodeReady passes when the Node has the condition Ready.
	NodeReady = "node-ready"
)

// Asker tries one probe.
type Asker interface {
	// Probe tries one probe once, within ctx; nil means that it passed. It takes
	// the default probes and those of a policy, which are named by type and
	// target (v1.Probe.Name: "tcp 192.0.2.1:443"), except confirm. An error is
	// one line for people that starts with the probe's name.
	Probe(ctx context.Context, name string) error
}

// Prober runs the node's connectivity probes. A probe with several targets passes
// when one of them answers; that of each of them is asked for by address.
type Prober interface {
	Asker

	// Names lists the default probes, in the order in which they are reported.
	Names() []string
	// Targets of a default probe as they are now; nil for a probe that has one
	// target or none.
	Targets(ctx context.Context, name string) ([]guard.Target, error)
	// Ask asks targets of a default probe by their addresses, side by side, within
	// ctx, and passes when of each group one answers. An error is as Probe's.
	Ask(ctx context.Context, name string, groups [][]netip.Addr) error
}

// NoTargets is for a Prober whose probes have one target each.
type NoTargets struct{}

// Targets implements Prober.
func (NoTargets) Targets(context.Context, string) ([]guard.Target, error) { return nil, nil }

// Ask implements Prober.
func (NoTargets) Ask(_ context.Context, name string, _ [][]netip.Addr) error {
	return fmt.Errorf("%s: it has no targets", name)
}

package probe

import "context"

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

// Prober runs the node's connectivity probes.
type Prober interface {
	// Names lists the default probes, in the order in which they are reported.
	Names() []string
	// Probe tries one probe once, within ctx; nil means that it passed. It takes
	// the default probes and those of a policy, which are named by type and
	// target (v1.Probe.Name: "tcp 192.0.2.1:443"), except confirm. An error is
	// one line for people that starts with the probe's name.
	Probe(ctx context.Context, name string) error
}

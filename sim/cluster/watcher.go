package cluster

import (
	"net/netip"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nmstate/kubernetes-nmstate/handler/agent"
	"github.com/nmstate/kubernetes-nmstate/handler/probe"
	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/world"
)

// Watcher stands between production code and its ports, and sees what goes
// through; what production code is given behaves as what the watcher is given.
type Watcher interface {
	// Added is told of a node before its handler starts; Host.OnCheckpoint is
	// the watcher's.
	Added(n *Node)
	// Client and Live are how a process talks to the API server. The node is
	// empty for the controllers.
	Client(p *world.Process, node string, c client.Client) client.Client
	Live(p *world.Process, node string, r client.Reader) client.Reader
	// Agent may replace the ports of a node's handler.
	Agent(p *world.Process, o *agent.Options)
}

// nobody watches.
type nobody struct{}

func (nobody) Added(*Node)                                                      {}
func (nobody) Client(_ *world.Process, _ string, c client.Client) client.Client { return c }
func (nobody) Live(_ *world.Process, _ string, r client.Reader) client.Reader   { return r }
func (nobody) Agent(*world.Process, *agent.Options)                             {}

// Reaches tells whether the node reaches what one of the default probes is about:
// the API server, or one of its default gateways.
func (n *Node) Reaches(about string) bool {
	if about == probe.APIServer {
		return n.reachesAPI()
	}
	for _, r := range n.Host.Routes() {
		if r.IsDefault() && r.Via.IsValid() && r.Table == host.MainTable && n.reaches(r.Via) {
			return true
		}
	}
	return false
}

func (n *Node) reaches(a netip.Addr) bool { return n.cluster.Network.Reaches(n.station, a) == nil }

package cluster

import (
	"math"
	"net/netip"
	"strings"

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
// the API server, or one of its default gateways; with a family after the name, those
// that this family's packets take.
func (n *Node) Reaches(about string) bool {
	if about == probe.APIServer {
		return n.reachesAPI()
	}
	if _, family, one := strings.Cut(about, " "); one {
		return n.reachesBy(family == "ipv6")
	}
	for _, r := range n.Host.Routes() {
		if r.IsDefault() && r.Via.IsValid() && r.Table == host.MainTable && n.reaches(r.Via) {
			return true
		}
	}
	return false
}

// reachesBy tells whether the default gateways of the least metric answer.
func (n *Node) reachesBy(ipv6 bool) bool {
	least, reached := math.MaxInt, false
	for _, r := range n.Host.Routes() {
		if !r.IsDefault() || !r.Via.IsValid() || r.Table != host.MainTable || r.Via.Is6() != ipv6 || r.Metric > least {
			continue
		}
		answers := n.reaches(r.Via)
		reached = answers && (reached || r.Metric < least)
		least = r.Metric
	}
	return reached
}

func (n *Node) reaches(a netip.Addr) bool { return n.cluster.Network.Reaches(n.station, a) == nil }

package swarm

import (
	"fmt"
	"net/netip"

	"github.com/nmstate/kubernetes-nmstate/sim/host"
)

// others stands among the faults that every run has for what others have on the
// nodes. It is never drawn: it is no fault.
const others = "others"

// addOthers puts what is not ours on every other node, as a CNI does: an address on
// a NIC that policies like to change, and routes to pods by it.
func (x *execution) addOthers() {
	for i, n := range x.cluster.Nodes() {
		if i%2 == 0 || n.Host.Link("eth1") == nil {
			continue
		}
		n.Host.AddAddress("eth1", netip.MustParsePrefix(fmt.Sprintf("198.18.0.%d/24", i+1)))
		err := n.Host.AddRoute(host.Route{
			To: netip.MustParsePrefix(fmt.Sprintf("10.244.%d.0/24", i)), Via: netip.MustParseAddr("198.18.0.254"), Dev: "eth1", Protocol: host.Boot,
		})
		if err != nil {
			panic(err) // The network is a literal of this package.
		}
	}
}

package network

import (
	"net/netip"
	"time"

	"github.com/nmstate/kubernetes-nmstate/handler/probe"
)

// Effects is what faults do to a cluster's network (sim/fault.Network).
type Effects struct{ *Cluster }

// lateDHCP is how long an exchange takes with a server that is late: longer
// than a probe's window has, shorter than NetworkManager's patience (45 s).
const (
	leastLate = 20 * time.Second
	mostLate  = 40 * time.Second
	// flapping is how long a probe that flaps stays with a word.
	flapping = 7 * time.Second
)

// Partition cuts the node from the API server: its requests are lost, or the
// replies, or both; neither ends it.
func (e Effects) Partition(node string, requests, replies bool) {
	e.Block(node, APIServer, requests)
	e.Block(APIServer, node, replies)
}

// DHCP sets how the servers are: "late", "gone", or empty for well.
func (e Effects) DHCP(how string) {
	for _, name := range sortedKeys(e.switches) {
		for _, d := range e.switches[name].dhcp {
			d.Least, d.Most = leastDHCP, mostDHCP
			if how == "late" {
				d.Least, d.Most = leastLate, mostLate
			}
			d.SetGone(how == "gone")
		}
	}
}

// Probes sets what the node's probes say: "lost" though they would pass,
// "passed" though they would not, "flapping", or empty for the truth. The
// node's readiness is no probe of the network, and stays out of it.
func (e Effects) Probes(node, how string) {
	whims := map[string]Whim{"lost": {Fail: true}, "passed": {Pass: true}, "flapping": {Flap: flapping}, "": {}}
	whim, known := whims[how]
	if !known {
		panic("network: no probes are " + how)
	}
	e.SetWhim(node, "", whim)
	e.SetWhim(node, probe.NodeReady, Whim{Honest: how != ""})
}

// Cut takes the "api", the "gateway" (its answers to pings) or "dns" out of a
// node's reach, or of all for an empty name; Heal takes back all cuts.
func (e Effects) Cut(what, node string) {
	names := map[string]string{"api": APIServer, "dns": DNS, "gateway": Pings + GatewayName}
	name, known := names[what]
	if !known {
		panic("network: there is no " + what + " to cut")
	}
	if node == "" {
		node = Everybody
	}
	e.Block(node, name, true)
}

// Heal takes back all cuts, and all partitions with them.
func (e Effects) Heal() {
	clear(e.blocked)
	e.revision++
}

// Service takes the "gateway" (its answers to pings), the "dns" or another
// service away, or brings it back.
func (e Effects) Service(name string, up bool) {
	if m := e.machines[name]; m != nil {
		m.SetPing(up)
		return
	}
	service := e.Cluster.Service(name)
	if service == nil {
		panic("network: there is no service " + name)
	}
	service.State = Answers
	if !up {
		service.State = Silent
	}
}

// ReachesAPI tells whether a station's requests arrive at the API server and its
// replies come back; the error says why not.
func (n *Network) ReachesAPI(s Station, api netip.AddrPort) error {
	_, err := n.Connect(s, api)
	return err
}

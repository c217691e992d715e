package network

import (
	"net/netip"
	"time"
)

// Effects is what faults do to a cluster's network (sim/fault.Network).
type Effects struct{ *Cluster }

// Partition cuts the node from the API server: its requests are lost, or the
// replies, or both; neither ends it.
func (e Effects) Partition(node string, requests, replies bool) {
	e.Cut(node, APIServer, requests, replies)
}

// Cut loses what the node sends to a service, or what the service sends back, or
// both; neither ends it.
func (e Effects) Cut(node, service string, requests, replies bool) {
	e.Block(node, service, requests)
	e.Block(service, node, replies)
}

// DHCP sets how the servers are: "late", "gone", or empty for well. A server that is late
// may take longer than a probe's window, and than NetworkManager's patience (45 s).
func (e Effects) DHCP(how string) {
	for _, name := range sortedKeys(e.switches) {
		for _, server := range e.switches[name].dhcp {
			server.Least, server.Most = leastDHCP, mostDHCP
			if how == "late" {
				server.Least, server.Most = 10*time.Second, 2*time.Minute
			}
			server.SetGone(how == "gone")
		}
	}
}

// Probes sets what the node's probes say: "lost" though they would pass,
// "flapping", "slow", or empty for the truth.
func (e Effects) Probes(node, how string) {
	deceits := map[string]Deceit{"lost": {Fail: true}, "flapping": {Flap: 4 * time.Second}, "slow": {Slow: 5 * time.Minute}, "": {}}
	deceit, known := deceits[how]
	if !known {
		panic("network: no probes are " + how)
	}
	e.SetDeceit(node, "", deceit)
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

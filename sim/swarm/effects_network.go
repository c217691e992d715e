package swarm

import (
	"time"

	"github.com/nmstate/kubernetes-nmstate/sim/network"
)

// Partition implements fault.Network.
func (e *effects) Partition(node string, requests, replies bool) {
	e.cluster.Network.Block(node, network.APIServer, requests)
	e.cluster.Network.Block(network.APIServer, node, replies)
}

// DHCP implements fault.Network.
func (e *effects) DHCP(how string) {
	for _, server := range e.cluster.Network.Switch(network.LAN).DHCP() {
		server.Least, server.Most = 20*time.Millisecond, 200*time.Millisecond
		if how == "late" {
			server.Least, server.Most = 10*time.Second, 2*time.Minute
		}
		server.SetGone(how == "gone")
	}
}

// Probes implements fault.Network.
func (e *effects) Probes(node, how string) {
	whim := network.Whim{}
	switch how {
	case "lost":
		whim.Fail = true
	case "flapping":
		whim.Flap = 4 * time.Second
	case "slow":
		whim.Slow = 5 * time.Minute
	}
	e.cluster.Network.SetWhim(node, "", whim)
}

// Service implements fault.Network.
func (e *effects) Service(name string, up bool) {
	if name == "gateway" {
		e.cluster.Network.Gateway.SetPing(up)
		return
	}
	state := network.Silent
	if up {
		state = network.Answers
	}
	e.cluster.Network.Service(network.DNS).State = state
}

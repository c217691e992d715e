package cluster

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/nmstate/kubernetes-nmstate/sim/host"
	"github.com/nmstate/kubernetes-nmstate/sim/trace"
)

// dnsPort is where name servers listen.
const dnsPort = 53

var errOff = errors.New("the machine is off")

// Way tells why the node does not reach a target (trace.Gateway, trace.DNS,
// trace.API) now; nil if it does. It is asked of the network and changes nothing.
func (n *Node) Way(target string) error {
	if !n.Host.On() {
		return errOff
	}
	network := n.cluster.Network
	switch target {
	case trace.API:
		return network.ReachesAPI(n.station, n.api)
	case trace.DNS:
		return first("no name server is configured", n.Host.NameServers(), func(server string) error {
			address, err := netip.ParseAddr(server)
			if err == nil {
				_, err = network.Connect(n.station, netip.AddrPortFrom(address, dnsPort))
			}
			return err
		})
	}
	var gateways []netip.Addr
	for _, r := range n.Host.Routes() {
		if r.IsDefault() && r.Via.IsValid() && r.Table == host.MainTable {
			gateways = append(gateways, r.Via)
		}
	}
	return first("there is no default route", gateways, func(via netip.Addr) error { return network.Reaches(n.station, via) })
}

// first tells why none of them is reached.
func first[T any](none string, all []T, reach func(T) error) error {
	err := error(nil)
	for _, one := range all {
		if err = reach(one); err == nil {
			return nil
		}
	}
	if err == nil {
		return errors.New(none) //nolint:err113 // For people.
	}
	return err
}

// ShowWays has lines about who reaches what written into the trace, for whoever
// looks at it; it leaves the run as it is.
func (c *Cluster) ShowWays() {
	names := func() []string {
		all := make([]string, 0, len(c.nodes))
		for _, n := range c.nodes {
			all = append(all, n.Name)
		}
		return all
	}
	way := func(node, target string) error {
		n := c.Node(node)
		if n == nil {
			return fmt.Errorf("there is no node %s", node)
		}
		return n.Way(target)
	}
	sampler, before := trace.NewSampler(c.World, names, way), c.World.AfterStep
	c.World.AfterStep = func() {
		if before != nil {
			before()
		}
		sampler.Step()
	}
}

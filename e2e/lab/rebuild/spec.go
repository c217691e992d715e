package rebuild

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/nmstate/kubernetes-nmstate/e2e/lab"
	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// spec is a node's entry in the topology. What a profile gives is told only where
// the lab needs it: the address of the way to the API server, and what stands on
// what.
func (n *node) spec(t *lab.Topology, plug func(nic string) string) (lab.NodeSpec, error) {
	spec := lab.NodeSpec{Name: n.name}
	way, ok := n.way(t, plug)
	if !ok {
		return spec, fmt.Errorf("%s: no interface that leads out of the node has an IPv4 address, so it would have no way to the API server", n.name)
	}
	nics := slices.Clone(n.kept.nics)
	slices.SortStableFunc(nics, func(a, b string) int { return rank(a == way.Name) - rank(b == way.Name) })
	for _, name := range nics {
		nic := lab.NICSpec{Name: name, Switch: plug(name)}
		if name == way.Name {
			nic = way
		}
		spec.NICs = append(spec.NICs, nic)
	}
	there := slices.Clone(nics)
	for grown := true; grown; {
		grown = false
		for _, one := range n.kept.state.Interfaces() {
			link, known := linkOf(one)
			if !known || slices.Contains(there, one.Name) || !stands(link, there) {
				continue
			}
			if one.Name == way.Name {
				link.NICSpec = way
			}
			there = append(there, one.Name)
			if link.Peer != "" {
				there = append(there, link.Peer)
			}
			spec.Links, grown = append(spec.Links, link), true
		}
	}
	if !slices.Contains(there, way.Name) {
		return spec, fmt.Errorf("%s: its way to the API server is %s, and a lab has no such link", n.name, way.Name)
	}
	return spec, nil
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func stands(link lab.LinkSpec, there []string) bool {
	if link.Base != "" && !slices.Contains(there, link.Base) {
		return false
	}
	return !slices.ContainsFunc(link.Ports, func(name string) bool { return !slices.Contains(there, name) })
}

// linkOf is an interface in the topology's words; false where they do not do.
func linkOf(one state.Interface) (lab.LinkSpec, bool) {
	link := lab.LinkSpec{NICSpec: lab.NICSpec{Name: one.Name}, Type: one.Type}
	tree := one.Tree()
	section := object(tree[one.Type])
	switch one.Type {
	case "bond":
		link.Ports, link.Mode = one.Ports(), text(object(tree["link-aggregation"])["mode"])
		return link, link.Mode != ""
	case "linux-bridge":
		link.Ports = one.Ports()
		return link, true
	case "dummy":
		return link, true
	case "veth":
		link.Peer = one.Peer()
		return link, link.Peer != ""
	case "vlan", "vxlan":
		link.Base, link.ID = one.BaseInterface(), number(section["id"])
		if one.Type == "vxlan" {
			link.Remote = text(section["remote"])
		}
		return link, link.Base != "" && link.ID != 0 && (one.Type == "vlan" || link.Remote != "")
	case "vrf":
		link.Ports, link.ID = one.Ports(), number(section["route-table-id"])
		return link, link.ID != 0
	case "mac-vlan", "ipvlan":
		link.Base, link.Mode = one.BaseInterface(), text(section["mode"])
		return link, link.Base != "" && link.Mode != "" && link.Mode != "source"
	}
	return link, false
}

func number(value any) int {
	whole, _ := strconv.Atoi(text(value))
	return whole
}

// way is the interface that carries the API server, with its address: the one that
// the best default route leads through, or else the first that has a gateway.
func (n *node) way(t *lab.Topology, plug func(nic string) string) (lab.NICSpec, bool) {
	routes := slices.Concat(n.kept.state.Routes(), n.kept.state.RunningRoutes())
	slices.SortStableFunc(routes, func(a, b state.Route) int { return cmp.Compare(a.Metric, b.Metric) })
	var names []string
	for _, route := range routes {
		if route.IsDefault() && !route.IsIPv6() && route.TableID == state.MainTable {
			names = append(names, route.NextHopInterface)
		}
	}
	for _, one := range n.kept.state.Interfaces() {
		names = append(names, one.Name)
	}
	for _, name := range names {
		below, one := n.ground(name, 0), lab.NICSpec{Name: name}
		found, _ := n.kept.state.Interface(name)
		if len(below.nics) == 0 {
			continue
		}
		for _, s := range t.Switches {
			if below.vlan == 0 && s.Name == plug(below.nics[0]) || s.Over == plug(below.nics[0]) && int64(s.VLAN) == below.vlan && below.vlan != 0 {
				one.Switch = s.Name
				if one.Address = n.addressIn(found, prefixOf(s.Gateway)); one.Address != "" {
					return one, true
				}
			}
		}
	}
	return lab.NICSpec{}, false
}

// addressIn is the topology's word for the address that an interface has in a
// gateway's network.
func (n *node) addressIn(one state.Interface, gateway netip.Prefix) string {
	for _, p := range n.addresses(one) {
		if p.Masked() != gateway.Masked() {
			continue
		}
		if slices.Contains(n.kept.leases[one.Name], p.String()) {
			return "dhcp"
		}
		return p.String()
	}
	return ""
}

package foreign

import (
	"strings"

	"github.com/nmstate/kubernetes-nmstate/handler/state"
)

// Named is what a change names, and so may change.
type Named struct {
	interfaces map[string]naming
	// hardware are the interfaces that the document names by MAC address.
	hardware map[string]naming
	routes   []state.Route
	// back: the change was taken back, so all is to be as before; the names
	// only tell which links may have been made anew.
	back bool
}

// naming is how an interface is named.
type naming struct {
	ipv4, ipv6 bool
	// lease4, lease6: the family's addresses, and with them its default route,
	// come from DHCP or router advertisements.
	lease4, lease6 bool
	// gone: it is to be down or absent.
	gone bool
	// ports: its ports are listed, so those that are not listed may go.
	ports bool
}

// NamedBy is what a document names: its interfaces, their ports and peers, and
// its routes.
func NamedBy(document state.State) Named {
	n := Named{interfaces: map[string]naming{}, hardware: map[string]naming{}, routes: document.Routes()}
	for _, one := range document.Interfaces() {
		how := namingOf(one)
		if tree := one.Tree(); tree["identifier"] == "mac-address" {
			mac, _ := tree["mac-address"].(string)
			n.hardware[strings.ToLower(mac)] = how
		}
		n.add(one.Name, how)
		for _, port := range one.Ports() {
			// A port has no addresses of its own.
			n.add(port, naming{ipv4: true, ipv6: true})
		}
		if peer := one.Peer(); peer != "" {
			n.add(peer, naming{gone: how.gone})
		}
	}
	for _, route := range n.routes {
		if route.NextHopInterface != "" {
			n.add(route.NextHopInterface, naming{})
		}
	}
	return n
}

func namingOf(one state.Interface) naming {
	tree := one.Tree()
	_, ipv4 := tree[string(state.IPv4)]
	_, ipv6 := tree[string(state.IPv6)]
	controller, _ := one.Controller()
	gone := one.IsAbsent() || strings.EqualFold(one.State, "down")
	all := gone || controller != ""
	return naming{
		ipv4: ipv4 || all, ipv6: ipv6 || all, gone: gone, ports: one.SaysPorts() || gone,
		lease4: one.Dynamic(state.IPv4), lease6: one.Dynamic(state.IPv6),
	}
}

func (n Named) add(name string, how naming) {
	if name == "" {
		return
	}
	was := n.interfaces[name]
	n.interfaces[name] = naming{
		ipv4: was.ipv4 || how.ipv4, ipv6: was.ipv6 || how.ipv6, gone: was.gone || how.gone, ports: was.ports || how.ports,
		lease4: was.lease4 || how.lease4, lease6: was.lease6 || how.lease6,
	}
}

// Back is the same change taken back: all is to be as it was before it.
func (n Named) Back() Named {
	n.back = true
	return n
}

// mayRemake tells whether the change, or its being taken back, may have made
// the link anew.
func (n Named) mayRemake(link Link) bool {
	_, named := n.naming(link)
	return named
}

// touches tells how the link is named by a change that is in place.
func (n Named) touches(link Link) (naming, bool) {
	if n.back {
		return naming{}, false
	}
	return n.naming(link)
}

func (n Named) naming(link Link) (naming, bool) {
	if how, named := n.interfaces[link.Name]; named {
		return how, true
	}
	how, named := n.hardware[strings.ToLower(link.MAC)]
	return how, named && link.MAC != ""
}

// takes tells whether the change names this route, as its own or to be gone.
func (n Named) takes(r route, links index) bool {
	if n.back {
		return false
	}
	for _, named := range n.routes {
		if matches(named, r, links) {
			return true
		}
	}
	return false
}

// leases tells whether the change has the default route of the family on this
// link come from DHCP or router advertisements.
func (n Named) leases(link Link, r route) bool {
	how, touched := n.touches(link)
	return touched && r.key.to.Bits() == 0 && (r.key.ipv6 && how.lease6 || !r.key.ipv6 && how.lease4)
}

// matches tells whether a configured route is about this one: every field that
// an absent one gives has to be the same; of a new one the destination counts.
func matches(named state.Route, r route, links index) bool {
	if named.Destination != "" && named.Destination != r.key.to.String() {
		return false
	}
	if named.VRF == "" && int(named.TableID) != r.key.table && !(named.Absent && named.Destination == "") {
		return false
	}
	if !named.Absent {
		return named.Destination != "" // Whatever its metric: an older one would win.
	}
	if named.HasMetric && int(named.Metric) != r.key.metric {
		return false
	}
	for _, h := range r.hops {
		device := named.NextHopInterface == "" || named.NextHopInterface == links.name(h.device)
		gateway := named.NextHopAddress == "" || named.NextHopAddress == h.gateway.String()
		if device && gateway {
			return true
		}
	}
	return false
}

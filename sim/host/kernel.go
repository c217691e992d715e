package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// kernel is all of the kernel's network at one moment; an edit makes another.
type kernel struct {
	// links by their index; routes without those that follow from addresses.
	links  []*Link
	routes []Route
	rules  []map[string]any
	// next is the index of the next link.
	next int
	// hostname that runs.
	hostname string
}

// link finds a link by name; an OVS bridge may have the same name as an interface.
func (k *kernel) link(name string, userspace bool) *Link {
	for _, l := range k.links {
		if l.Name == name && l.userspace() == userspace {
			return l
		}
	}
	return nil
}

// named finds an interface, or else an OVS bridge.
func (k *kernel) named(name string) *Link {
	if l := k.link(name, false); l != nil {
		return l
	}
	return k.link(name, true)
}

// ports of a controller, by their index.
func (k *kernel) ports(name string) []*Link {
	var found []*Link
	for _, l := range k.links {
		if l.Controller == name {
			found = append(found, l)
		}
	}
	return found
}

// carrier tells whether a link can send: by its cable, its base, its ports.
func (k *kernel) carrier(l *Link) bool { return k.sends(l, 0) }

func (k *kernel) sends(l *Link, depth int) bool {
	const deepest = 8 // Links that stand on each other in a circle do not send.
	if l == nil || !l.Up || depth > deepest {
		return false
	}
	switch l.Type {
	case "ethernet":
		return l.Cable
	case "veth":
		if l.Peer == "" {
			return l.Cable
		}
		if peer := k.link(l.Peer, false); peer != nil {
			return peer.Up
		}
		return l.Cable // Its far end is in a pod.
	case "vlan", "vxlan", "mac-vlan", "ipvlan":
		return k.sends(k.link(l.Base, false), depth+1)
	case "linux-bridge", "bond":
		for _, port := range k.ports(l.Name) {
			if k.sends(port, depth+1) {
				return true
			}
		}
		return false
	}
	return true
}

// above are the links that need this one to be there as their base.
func (k *kernel) above(name string) []*Link {
	var found []*Link
	for _, l := range k.links {
		if l.Base == name {
			found = append(found, l)
		}
	}
	return found
}

// connected are the routes that follow from addresses of links that are up.
func (k *kernel) connected() []Route {
	var found []Route
	for _, l := range k.links {
		if !l.Up || l.Type == "loopback" {
			continue
		}
		for _, a := range l.Addresses {
			if a.Prefix.IsSingleIP() {
				continue
			}
			r := Route{To: a.Prefix.Masked(), Dev: l.Name, Table: k.tableOf(l), Protocol: Kernel}
			switch {
			case a.Managed:
				r.Metric = l.metric(a.Prefix.Addr().Is6())
			case a.Prefix.Addr().Is6():
				r.Metric = 256
			}
			if !slices.ContainsFunc(found, r.is) {
				found = append(found, r)
			}
		}
	}
	return found
}

// tableOf is the routing table of what is derived from a link's addresses.
func (k *kernel) tableOf(l *Link) int {
	if vrf := k.link(l.Controller, false); vrf != nil && vrf.Type == "vrf" {
		return vrf.Table
	}
	return MainTable
}

// metricOf is what NetworkManager gives the routes of a device of a type.
func metricOf(kind string) int {
	switch kind {
	case "bond":
		return 300
	case "vlan":
		return 400
	case "mac-vlan":
		return 410
	case "ipvlan":
		return 435
	case "linux-bridge":
		return 425
	case "vxlan":
		return 500
	case "dummy":
		return 550
	case "ovs-interface":
		return 800
	}
	return 100
}

// text is the kernel in a form that is equal if and only if the network is.
func (k *kernel) text() string {
	var lines []string
	for _, l := range k.links {
		if l.userspace() {
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s mtu %d %s of %q up %t", l.Name, l.Type, l.MTU, strings.ToLower(l.MAC), l.Controller, l.Up))
		for _, a := range l.Addresses {
			lines = append(lines, l.Name+" address "+a.Prefix.String())
		}
	}
	for _, r := range k.all() {
		via := "<nil>"
		if r.Via.IsValid() {
			via = r.Via.String()
		}
		line := fmt.Sprintf("route %s via %s dev %s metric %d", r.To, via, r.Dev, r.Metric)
		if r.Table != MainTable {
			line += fmt.Sprintf(" table %d", r.Table)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// all routes, those that follow from addresses first.
func (k *kernel) all() []Route { return append(k.connected(), k.routes...) }

// edit is a kernel that is being changed: the parts that it touches are its own.
type edit struct{ kernel }

func (k *kernel) edit() *edit {
	e := &edit{*k}
	e.links = slices.Clone(k.links)
	e.routes = slices.Clone(k.routes)
	return e
}

// change puts a changed copy in the link's place and returns it.
func (e *edit) change(l *Link, change func(*Link)) *Link {
	i := e.place(l)
	if i < 0 {
		return l
	}
	was := e.links[i]
	changed := *was
	change(&changed)
	if was.Alone != 0 && was.Controller != changed.Controller {
		changed.Alone = 0
		if changed.MTU == was.MTU {
			changed.MTU = was.Alone
		}
	}
	e.links[i] = &changed
	if was.Up && !changed.Up {
		e.dropRoutes(func(r Route) bool { return r.Dev == l.Name })
	}
	if was.Type == "bond" && changed.MTU != was.MTU {
		for _, port := range e.ports(was.Name) { // drivers/net/bonding, bond_change_mtu
			e.change(port, func(p *Link) { p.MTU = changed.MTU })
		}
	}
	return &changed
}

// place of a link, which may have been changed since it was looked up; -1 for
// one that is gone.
func (e *edit) place(l *Link) int {
	return slices.IndexFunc(e.links, func(other *Link) bool { return other.Index == l.Index })
}

// add makes a link with the next index.
func (e *edit) add(l Link) *Link {
	l.Index = e.next
	e.next++
	e.links = append(e.links, &l)
	return &l
}

// remove takes a link away with its routes, with what stands on it and with
// the other end of a veth pair; its ports are ports no more.
func (e *edit) remove(l *Link) {
	i := e.place(l)
	if i < 0 {
		return
	}
	e.links = slices.Delete(e.links, i, i+1)
	if !l.userspace() {
		e.dropRoutes(func(r Route) bool { return r.Dev == l.Name })
		for _, above := range e.above(l.Name) {
			e.remove(above)
		}
		if peer := e.link(l.Peer, false); l.Peer != "" && peer != nil {
			e.remove(peer)
		}
	}
	if e.controls(l) {
		for _, port := range e.ports(l.Name) {
			e.change(port, func(p *Link) { p.Controller = "" })
		}
	}
}

// controls tells whether the link is what the ports of its name mean.
func (k *kernel) controls(l *Link) bool {
	switch l.Type {
	case "linux-bridge", "bond", "vrf", "ovs-bridge":
		return true
	}
	return false
}

func (e *edit) dropRoutes(which func(Route) bool) { e.routes = slices.DeleteFunc(e.routes, which) }

// addRoute adds what is not there yet.
func (e *edit) addRoute(r Route) {
	if !slices.ContainsFunc(e.routes, r.is) {
		e.routes = append(e.routes, r)
		slices.SortStableFunc(e.routes, compareRoutes)
	}
}

func compareRoutes(a, b Route) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), a.To.Addr().Compare(b.To.Addr()), cmp.Compare(a.To.Bits(), b.To.Bits()),
		cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Dev, b.Dev), a.Via.Compare(b.Via))
}

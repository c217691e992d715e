package state

import "strings"

// implication is a document with what nmstate makes of it beside its words,
// said: a port of a bridge or bond loses its IP configuration.
type implication struct {
	interfaces []Interface
	// ports are the interfaces that take a port, by the port's name.
	ports map[string]Interface
	// named are all interfaces that the document refers to.
	named map[string]bool
	state State
}

// implied spells a document out, in nmstate's first spellings.
func implied(s State) implication {
	i := implication{ports: map[string]Interface{}, named: map[string]bool{}, state: s}
	byName := map[string]int{}
	for _, one := range s.Interfaces() {
		one.tree = canonical(one.Tree())
		byName[one.Name] = len(i.interfaces)
		i.interfaces = append(i.interfaces, one)
	}
	for _, one := range i.interfaces {
		i.named[one.Name] = true
		controller, _ := one.Controller()
		for _, name := range append(one.Ports(), controller, one.BaseInterface(), one.Peer()) {
			i.named[name] = true
		}
	}
	for _, route := range s.Routes() {
		if !route.Absent {
			i.named[route.NextHopInterface], i.named[route.VRF] = true, true
		}
	}
	for _, one := range s.Interfaces() {
		if one.IsAbsent() {
			continue
		}
		for _, port := range one.Ports() {
			if port == one.Name {
				continue // An OVS bridge's own interface.
			}
			at, there := byName[port]
			if !there {
				at = len(i.interfaces)
				byName[port] = at
				i.interfaces = append(i.interfaces, Interface{Name: port, tree: map[string]any{"name": port}})
			}
			i.ports[port] = one
			enslave(i.interfaces[at], one)
		}
	}
	return i
}

// enslave says of a port what follows from its controller.
func enslave(port, controller Interface) {
	if _, said := port.Controller(); !said {
		port.tree["controller"] = controller.Name
	}
	if !takesIP(controller.Type) {
		return // A port of a VRF keeps its addresses.
	}
	if port.Type == "ovs-interface" {
		return
	}
	if mtu, said := controller.tree["mtu"]; said && controller.Type == "bond" && port.tree["mtu"] == nil {
		port.tree["mtu"] = mtu // The kernel gives it to the ports, and each its own when it leaves.
	}
	for _, family := range []Family{IPv4, IPv6} {
		if _, said := port.tree[string(family)]; !said {
			port.tree[string(family)] = map[string]any{"enabled": false}
		}
	}
}

// takesIP tells the types whose ports cannot have addresses.
func takesIP(kind string) bool {
	return kind == "linux-bridge" || kind == "bond" || kind == "ovs-bridge"
}

// canonical replaces nmstate's second spellings in an interface.
func canonical(tree map[string]any) map[string]any {
	rename(tree, "master", "controller")
	rename(tree, "bond", "link-aggregation")
	for _, section := range []string{"bridge", "link-aggregation", "vrf"} {
		rename(object(tree[section]), "ports", "port")
		rename(object(tree[section]), "slaves", "port")
	}
	return tree
}

func rename(tree map[string]any, from, to string) {
	if value, there := tree[from]; there && tree[to] == nil {
		tree[to] = value
		delete(tree, from)
	}
}

// entry finds an interface by what tells interfaces apart.
func (i implication) entry(key string) (Interface, bool) {
	for _, one := range i.interfaces {
		if one.key() == key {
			return one, true
		}
	}
	return Interface{}, false
}

// families are those of interfaces that the document says something about, and
// what it does to their routes.
func (i implication) families() map[emptied]fate {
	found := map[emptied]fate{}
	for _, one := range i.interfaces {
		for _, family := range []Family{IPv4, IPv6} {
			enabled, said := one.Enabled(family)
			off := one.goes() || said && !enabled
			if _, named := one.tree[string(family)]; named || off {
				found[emptied{one.Name, family}] = fate{off: off, forgotten: off || one.Dynamic(family)}
			}
		}
	}
	return found
}

// fate of a family's routes. off: it is switched off or taken away, and can have none.
// forgotten: those of before are lost, also where the family is given to DHCP or router
// advertisements, with which nmstate forgets configured routes; it may have others then.
type fate struct{ off, forgotten bool }

// goes tells whether the document takes the interface away.
func (i Interface) goes() bool { return i.IsAbsent() || i.State == "down" }

// emptied is a family of an interface that loses its routes.
type emptied struct {
	name   string
	family Family
}

func (e emptied) String() string { return e.name + " " + string(e.family) }

func (e emptied) compare(other emptied) int { return strings.Compare(e.String(), other.String()) }

func (e emptied) lost(r Route) bool {
	return r.NextHopInterface == e.name && r.IsIPv6() == (e.family == IPv6)
}

package state

import "strings"

// Path is a place in a document: a section, which interface in it, and what below. It is
// compared and printed; ParsePath is for what an object of the API says.
type Path struct {
	// Section is a key of the document: "interfaces".
	Section string
	// Interface is the name of the one that the place is about: in routes, the one by
	// which a route leads. Kind is its type where its name is not enough: an OVS bridge
	// may share it with the interface inside it.
	Interface, Kind string
	// Leaf is the place below: "ipv4.address"; empty for the whole.
	Leaf string
}

// String is the path as a person reads it: "interfaces[br1 ovs-bridge].bridge.port".
func (p Path) String() string {
	written := p.Section
	if p.Section == "interfaces" {
		key := p.Interface
		if p.Kind != "" {
			key += " " + p.Kind
		}
		written += "[" + key + "]"
	}
	return joinPath(written, p.Leaf)
}

// Subject is the thing that the path is about, as far as it is put right together: an
// interface, the routes, the name servers.
func (p Path) Subject() Path {
	p.Leaf = ""
	if p.Section != "interfaces" {
		p.Interface = ""
	}
	return p
}

// pathOf an interface.
func pathOf(one Interface) Path {
	path := Path{Section: "interfaces", Interface: one.Name}
	if isUserspace(one.Type) {
		path.Kind = one.Type
	}
	return path
}

// interfacePath names an interface.
func interfacePath(one Interface) string { return pathOf(one).String() }

// below is the place at a leaf, which may begin with the dot that joins it.
func (p Path) below(leaf string) Path {
	p.Leaf = strings.TrimPrefix(leaf, ".")
	return p
}

// ParsePath reads what String wrote, of a NodeNetworkState say. By which interface a route
// leads is not in it.
func ParsePath(written string) Path {
	rest, is := strings.CutPrefix(written, "interfaces[")
	if !is {
		section, leaf, _ := strings.Cut(written, ".")
		return Path{Section: section, Leaf: leaf}
	}
	key, leaf, below := strings.Cut(rest, "].")
	if !below {
		key = strings.TrimSuffix(key, "]")
	}
	path := Path{Section: "interfaces", Interface: key, Leaf: leaf}
	for _, kind := range userspaceTypes() {
		if name, is := strings.CutSuffix(key, " "+kind); is {
			path.Interface, path.Kind = name, kind
		}
	}
	return path
}

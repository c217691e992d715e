package state

import (
	"slices"
	"strings"
)

// Path is a place in a document: a section, which interface in it, and what below. It is
// compared and printed. ParsePath is for what an object of the API or a file says.
type Path struct {
	// Section is a key of the document: "interfaces".
	Section string
	// Interface is the name of the one that the place is about: in what differs of the
	// routes, the one by which a route leads. Kind is its type where its name is not
	// enough: an OVS bridge may share it with the interface inside it.
	Interface, Kind string
	// Leaf are the keys below: "ipv4.address"; empty for the whole.
	Leaf string
	// Entry is an entry of the list at the leaf, by its natural key: "192.0.2.1/24".
	Entry string
	// Within is the place in that entry: "vlan.tag".
	Within string
}

// String is the path as a person reads it: "interfaces[br1 ovs-bridge].bridge.port[eth1]".
func (p Path) String() string {
	written := p.Section
	if p.Section == "interfaces" {
		written += "[" + p.interfaceKey() + "]"
	}
	return joinPath(written, p.Rest())
}

// MarshalText is String, for what is shown as JSON.
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePath, for who reads that JSON.
func (p *Path) UnmarshalText(written []byte) error {
	*p = ParsePath(string(written))
	return nil
}

// Rest is what String says behind the section and the interface.
func (p Path) Rest() string {
	if p.Entry == "" {
		return p.Leaf
	}
	return joinPath(p.Leaf+"["+p.Entry+"]", p.Within)
}

// Subject is the thing that the path is about, as far as it is put right together: an
// interface, the routes, the name servers.
func (p Path) Subject() Path {
	subject := Path{Section: p.Section}
	if p.Section == "interfaces" {
		subject.Interface, subject.Kind = p.Interface, p.Kind
	}
	return subject
}

// Covers tells whether a path stands for another one: it is the same, or the other one is
// below it.
func (p Path) Covers(other Path) bool {
	return p.Subject() == other.Subject() && coversKey(p.Rest(), other.Rest())
}

// coversKey is Covers for what is behind the subject.
func coversKey(key, other string) bool {
	rest, below := strings.CutPrefix(other, key)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[' || key == "")
}

// touches tells whether one of two paths covers the other one.
func (p Path) touches(other Path) bool { return p.Covers(other) || other.Covers(p) }

// pathOf an interface.
func pathOf(one Interface) Path {
	path := Path{Section: "interfaces", Interface: one.Name}
	if isUserspace(one.Type) {
		path.Kind = one.Type
	}
	return path
}

// At is the place at one more key, or at several with dots between them.
func (p Path) At(key string) Path {
	if p.Entry == "" {
		p.Leaf = joinPath(p.Leaf, key)
	} else {
		p.Within = joinPath(p.Within, key)
	}
	return p
}

// entry is an entry of the list at the path.
func (p Path) entry(key string) Path {
	if p.Entry == "" {
		p.Entry = key
	} else {
		p.Within += "[" + key + "]"
	}
	return p
}

// interfaceKey is that of the interface of a path, as Interface.key spells it.
func (p Path) interfaceKey() string {
	if p.Kind != "" {
		return p.Interface + " " + p.Kind
	}
	return p.Interface
}

// pathOfKey is the path of the interface that Interface.key spells so.
func pathOfKey(key string) Path {
	for _, kind := range UserspaceTypes() {
		if name, is := strings.CutSuffix(key, " "+kind); is {
			return Path{Section: "interfaces", Interface: name, Kind: kind}
		}
	}
	return Path{Section: "interfaces", Interface: key}
}

// inFamily is the place in a family's IP configuration; false for one elsewhere.
func (p Path) inFamily() (family Family, leaf string, is bool) {
	first, rest, _ := strings.Cut(p.Leaf, ".")
	family = Family(first)
	return family, rest, p.Section == "interfaces" && (family == IPv4 || family == IPv6)
}

// canonical replaces nmstate's second spellings.
func (p Path) canonical() Path {
	leaf := strings.NewReplacer(".bond.", ".link-aggregation.", ".master", ".controller").Replace("." + p.Leaf)
	if p.Entry != "" {
		for _, older := range []string{".slaves", ".ports"} {
			if place, is := strings.CutSuffix(leaf, older); is {
				leaf = place + ".port"
			}
		}
	}
	p.Leaf = leaf[1:]
	return p
}

// ParsePath reads what String wrote, of a NodeNetworkState say. By which interface a route
// leads is not in it.
func ParsePath(written string) Path {
	var path Path
	rest, is := strings.CutPrefix(written, "interfaces[")
	if is {
		key, leaf, below := strings.Cut(rest, "].")
		if !below {
			key = strings.TrimSuffix(key, "]")
		}
		path, rest = pathOfKey(key), leaf
	} else {
		path.Section, rest, _ = strings.Cut(written, ".")
	}
	leaf, entry, is := strings.Cut(rest, "[")
	path.Leaf = leaf
	if !is {
		return path
	}
	var below bool
	if path.Entry, path.Within, below = strings.Cut(entry, "]."); !below {
		path.Entry = strings.TrimSuffix(entry, "]")
	}
	return path
}

// ParsePaths reads several, of a source in a NodeNetworkState say.
func ParsePaths(written []string) []Path {
	paths := make([]Path, 0, len(written))
	for _, one := range written {
		paths = append(paths, ParsePath(one))
	}
	return paths
}

// WrittenPaths is what ParsePaths reads.
func WrittenPaths(paths []Path) []string {
	var written []string
	for _, path := range paths {
		written = append(written, path.String())
	}
	return written
}

func canonicalPaths(paths []Path) []Path {
	canonical := slices.Clone(paths)
	for i := range canonical {
		canonical[i] = canonical[i].canonical()
	}
	return canonical
}

package state

import "slices"

// Paths are the leaves of a document, in its order of sections and in the
// spelling of Difference.Path: "interfaces[eth1].mtu". The entry of a list is a
// leaf of its own, named by its natural key, or as a person would write it:
//
//	interfaces[br1].ipv4.address[192.0.2.1/24]
//	interfaces[br1].bridge.port[eth1]
//	routes.config[198.51.100.0/24 via 192.0.2.1 dev br1 metric 150]
//	route-rules.config[rule 100: from 192.0.2.0/24 lookup 200]
//	dns-resolver.config.server[192.0.2.53]
//
// Several entries of one key are one leaf. An interface's name is no leaf; one
// that says nothing else is the leaf "interfaces[eth1]".
func Paths(s State) []Path {
	var paths []Path
	for _, leaf := range walked(s) {
		paths = append(paths, leaf.path)
	}
	return paths
}

// Leaf is a leaf of a document and its value; secrets are masked, and the entry of a list
// has no value but its path.
type Leaf struct {
	Path  Path
	Value string
}

// LeavesOf are those of Paths.
func LeavesOf(s State) []Leaf {
	var leaves []Leaf
	for _, leaf := range walked(s) {
		leaves = append(leaves, Leaf{leaf.path, maskedText(leaf.path.Rest(), normalText(text(leaf.value)))})
	}
	return leaves
}

func walked(s State) []walkedLeaf {
	w := pathWalk{seen: map[Path]bool{}}
	for _, one := range s.Interfaces() {
		path, before := pathOf(one), len(w.leaves)
		for _, key := range sortedKeys(one.tree) {
			if key != "name" {
				w.value(path.At(key), one.tree[key])
			}
		}
		if len(w.leaves) == before {
			w.add(path, nil)
		}
	}
	for _, route := range s.Routes() {
		w.add(routePath(route), nil)
	}
	for _, rule := range s.RouteRules() {
		w.add(rulePath(rule), nil)
	}
	for _, key := range sortedKeys(s.tree) {
		switch key {
		case "interfaces", "routes", "route-rules":
		default:
			w.value(Path{Section: key}, s.tree[key])
		}
	}
	return w.leaves
}

// absentEntry begins the key of a route or rule that is not to be there.
const absentEntry = "absent "

// IsAbsent tells of the path of a route or rule that is not to be there.
func (p Path) IsAbsent() bool {
	return len(p.Entry) > len(absentEntry) && p.Entry[:len(absentEntry)] == absentEntry
}

func routePath(r Route) Path { return configPath("routes", r.String(), r.Absent) }

func rulePath(r RouteRule) Path { return configPath("route-rules", r.String(), r.Absent) }

func configPath(section, entry string, absent bool) Path {
	if absent {
		entry = absentEntry + entry
	}
	return Path{Section: section, Leaf: "config", Entry: entry}
}

type walkedLeaf struct {
	path  Path
	value any
}

type pathWalk struct {
	leaves []walkedLeaf
	seen   map[Path]bool
}

func (w *pathWalk) add(path Path, value any) {
	if !w.seen[path] {
		w.seen[path] = true
		w.leaves = append(w.leaves, walkedLeaf{path, value})
	}
}

func (w *pathWalk) value(path Path, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			w.value(path.At(key), value[key])
		}
		if len(value) == 0 {
			w.add(path, nil)
		}
	case []any:
		for _, item := range value {
			w.add(path.entry(itemKey(item)), nil)
		}
		if len(value) == 0 {
			w.add(path, nil)
		}
	default:
		w.add(path, value)
	}
}

// Owns tells whether somebody who owns the paths owns what differs. A
// difference may be coarser than a path ("ipv4.address") or spell a port's
// place shorter ("interfaces[br1].port").
func Owns(paths []Path, d Difference) bool {
	paths = canonicalPaths(paths)
	for _, name := range d.names() {
		for _, path := range paths {
			if path.Covers(name) {
				return true
			}
		}
	}
	if d.Want != "" && d.Want != wholeInterface && d.Want != wholeEntry {
		return false
	}
	// Something that should not be there is of whoever owns the list, a whole
	// interface that is missing of whoever says anything about it.
	for _, path := range paths {
		for _, base := range d.places() {
			if base.Covers(path) {
				return true
			}
		}
	}
	return false
}

// places are the paths that the difference's own may stand for.
func (d Difference) places() []Path {
	places := []Path{d.Path}
	if d.Path.Leaf == "port" {
		for _, place := range portPlaces() {
			places = append(places, d.Path.Subject().At(place))
		}
	}
	return places
}

// portPlaces are where an interface says what its ports are.
func portPlaces() []string {
	return []string{"bridge.port", "link-aggregation.port", "link-aggregation.ports-config", "vrf.port", "hsr.port1", "hsr.port2", "hsr.interlink"}
}

// names are the paths that may stand for the difference's leaf.
func (d Difference) names() []Path {
	bases := d.places()
	names := slices.Clip(bases)
	for _, value := range []string{d.Want, absentEntry + d.Got} {
		for _, base := range bases {
			names = append(names, base.entry(value))
		}
	}
	return names
}

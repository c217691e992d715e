package state

import (
	"slices"
	"strings"
)

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
func Paths(s State) []string {
	var paths []string
	for _, leaf := range walked(s) {
		paths = append(paths, leaf.path)
	}
	return paths
}

// Leaf is a leaf of a document and its value; secrets are masked, and the entry of a list
// has no value but its path.
type Leaf struct{ Path, Value string }

// LeavesOf are those of Paths.
func LeavesOf(s State) []Leaf {
	var leaves []Leaf
	for _, leaf := range walked(s) {
		leaves = append(leaves, Leaf{leaf.path, maskedText(leaf.path, normalText(text(leaf.value)))})
	}
	return leaves
}

func walked(s State) []walkedLeaf {
	w := pathWalk{seen: map[string]bool{}}
	for _, one := range s.Interfaces() {
		path, before := interfacePath(one), len(w.leaves)
		for _, key := range sortedKeys(one.tree) {
			if key != "name" {
				w.value(path+"."+key, one.tree[key])
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
			w.value(key, s.tree[key])
		}
	}
	return w.leaves
}

func routePath(r Route) string {
	if r.Absent {
		return "routes.config[absent " + r.String() + "]"
	}
	return "routes.config[" + r.String() + "]"
}

func rulePath(r RouteRule) string {
	if r.Absent {
		return "route-rules.config[absent " + r.String() + "]"
	}
	return "route-rules.config[" + r.String() + "]"
}

type walkedLeaf struct {
	path  string
	value any
}

type pathWalk struct {
	leaves []walkedLeaf
	seen   map[string]bool
}

func (w *pathWalk) add(path string, value any) {
	if !w.seen[path] {
		w.seen[path] = true
		w.leaves = append(w.leaves, walkedLeaf{path, value})
	}
}

func (w *pathWalk) value(path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			w.value(path+"."+key, value[key])
		}
		if len(value) == 0 {
			w.add(path, nil)
		}
	case []any:
		for _, item := range value {
			w.add(path+"["+itemKey(item)+"]", nil)
		}
		if len(value) == 0 {
			w.add(path, nil)
		}
	default:
		w.add(path, value)
	}
}

// Covers tells whether a path stands for another one: it is the same, or the
// other one is below it.
func Covers(path, other string) bool {
	rest, below := strings.CutPrefix(other, path)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[' || path == "")
}

// canonicalPath replaces nmstate's second spellings in a path.
func canonicalPath(path string) string {
	path = strings.NewReplacer(".bond.", ".link-aggregation.", ".master", ".controller").Replace(path)
	return strings.NewReplacer(".slaves[", ".port[", ".ports[", ".port[").Replace(path) // The dot is of both.
}

// Owns tells whether somebody who owns the paths owns what differs. A
// difference may be coarser than a path ("ipv4.address") or spell a port's
// place shorter ("interfaces[br1].port").
func Owns(paths []string, d Difference) bool {
	for _, name := range d.names() {
		for _, path := range paths {
			if Covers(canonicalPath(path), name) {
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
			if Covers(base, canonicalPath(path)) {
				return true
			}
		}
	}
	return false
}

// places are the paths that the difference's own may stand for.
func (d Difference) places() []string {
	places := []string{d.Path.String()}
	if d.Path.Leaf == "port" {
		for _, place := range portPlaces() {
			places = append(places, d.Path.below(place).String())
		}
	}
	return places
}

// portPlaces are where an interface says what its ports are.
func portPlaces() []string {
	return []string{"bridge.port", "link-aggregation.port", "link-aggregation.ports-config", "vrf.port", "hsr.port1", "hsr.port2", "hsr.interlink"}
}

// names are the paths that may stand for the difference's leaf.
func (d Difference) names() []string {
	bases := d.places()
	names := slices.Clone(bases)
	for _, value := range []string{d.Want, "absent " + d.Got} {
		for _, base := range bases {
			names = append(names, base+"["+value+"]")
		}
	}
	return names
}

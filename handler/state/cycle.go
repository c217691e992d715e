package state

import (
	"maps"
	"slices"
	"strings"
)

// Cycle finds interfaces that stand on each other in a circle, as ports or as
// bases, and spells it out: "br1 -> bond0 -> br1". It is empty where there is
// none. An OVS bridge is not the interface of its name.
func Cycle(s State) string {
	graph := dependencies(s)
	const open, closed = 1, 2
	seen := map[string]int{}
	var path []string
	var visit func(name string) bool
	visit = func(name string) bool {
		path = append(path, name)
		seen[name] = open
		for _, next := range graph[name] {
			switch seen[next] {
			case open:
				path = append(path[slices.Index(path, next):], next)
				return true
			case closed:
			default:
				if visit(next) {
					return true
				}
			}
		}
		seen[name] = closed
		path = path[:len(path)-1]
		return false
	}
	for _, name := range slices.Sorted(maps.Keys(graph)) {
		if seen[name] == 0 && visit(name) {
			return strings.ReplaceAll(strings.Join(path, " -> "), userspace, "")
		}
	}
	return ""
}

// userspace marks the names that are not those of kernel interfaces.
const userspace = "\x00"

// dependencies are what each interface stands on: its ports and its base.
func dependencies(s State) map[string][]string {
	graph := map[string][]string{}
	all := s.Interfaces()
	bridges := map[string]bool{}
	for _, one := range all {
		bridges[one.Name] = bridges[one.Name] || one.Type == "ovs-bridge"
	}
	for _, one := range all {
		if one.IsAbsent() || one.Name == "" {
			continue
		}
		name := one.Name
		if isUserspace(one.Type) {
			name += userspace
		}
		if ports := one.Ports(); len(ports) > 0 {
			graph[name] = append(graph[name], ports...)
		}
		if base := one.BaseInterface(); base != "" {
			graph[name] = append(graph[name], base)
		}
		if controller, _ := one.Controller(); controller != "" {
			if bridges[controller] {
				controller += userspace
			}
			graph[controller] = append(graph[controller], name)
		}
	}
	return graph
}

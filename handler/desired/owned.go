package desired

import "github.com/nmstate/kubernetes-nmstate/handler/state"

// owned are, for each member, the paths of the merged state that the member
// set: a whole interface where it set all that is said of it, otherwise
// leaves. A leaf that several set to the same value is in each.
func (m aggregate) owned() [][]state.Path {
	merged := indexed(m.state)
	all := make([][]state.Path, len(m.members))
	for i, member := range m.members {
		all[i] = merged.of(member.State)
	}
	return all
}

// index finds the leaves of a merged state.
type index struct {
	// leaves of each branch: an interface, or everything else.
	leaves map[state.Path]map[state.Path]bool
	// routes of each natural key.
	routes map[string][]state.Route
}

func indexed(merged state.State) index {
	x := index{leaves: map[state.Path]map[state.Path]bool{}, routes: map[string][]state.Route{}}
	for _, path := range state.Paths(merged) {
		at := branch(path)
		if x.leaves[at] == nil {
			x.leaves[at] = map[state.Path]bool{}
		}
		x.leaves[at][path] = true
	}
	for _, route := range merged.Routes() {
		key := state.EntryKey("routes", "config", route.Tree())
		x.routes[key] = append(x.routes[key], route)
	}
	return x
}

// branch is the interface that a path is about, empty for anything else.
func branch(path state.Path) state.Path {
	if path.Section != "interfaces" {
		return state.Path{}
	}
	return path.Subject()
}

// of are the paths in the merged state of one that went into it.
func (x index) of(part state.State) []state.Path {
	branches := []state.Path{}
	own := map[state.Path][]state.Path{}
	seen := map[state.Path]bool{}
	for _, path := range x.found(part) {
		if seen[path] {
			continue
		}
		seen[path] = true
		at := branch(path)
		if own[at] == nil {
			branches = append(branches, at)
		}
		own[at] = append(own[at], path)
	}
	var paths []state.Path
	for _, at := range branches {
		if at != (state.Path{}) && len(own[at]) == len(x.leaves[at]) {
			paths = append(paths, at)
		} else {
			paths = append(paths, own[at]...)
		}
	}
	return paths
}

// found are the part's leaves as the merged state names them.
func (x index) found(part state.State) []state.Path {
	var found []state.Path
	for _, path := range state.Paths(part) {
		at := branch(path)
		if x.leaves[at][path] {
			found = append(found, path)
		}
		if path.Section != "interfaces" || path.Kind != "" || at == path {
			continue
		}
		// Where the part does not say the type, it may be about an OVS bridge.
		for _, kind := range state.UserspaceTypes() {
			other := path
			if other.Kind = kind; x.leaves[other.Subject()][other] {
				found = append(found, other)
			}
		}
	}
	// A route that one policy names and another completes has another name.
	for _, route := range part.Routes() {
		tree := route.Tree()
		for _, whole := range x.routes[state.EntryKey("routes", "config", tree)] {
			if disagreement("routes", "config", whole.Tree(), tree) == nil {
				found = append(found, state.Paths(ofRoute(whole))...)
			}
		}
	}
	return found
}

func ofRoute(route state.Route) state.State {
	return state.FromTree(map[string]any{"routes": map[string]any{"config": []any{route.Tree()}}})
}

package state

import (
	"maps"
	"slices"
)

// forget takes out of the originals what the paths touch. Of an interface that
// they touch at all it is no longer known that it was not there, or was down.
func forget(originals map[string]any, paths []string) {
	if len(paths) == 0 {
		return
	}
	var canonical []string
	for _, path := range paths {
		canonical = append(canonical, canonicalPath(path))
	}
	touched := func(path string) bool {
		return slices.ContainsFunc(canonical, func(kept string) bool { return Covers(kept, path) || Covers(path, kept) })
	}
	for key, tree := range object(originals["interfaces"]) {
		path := "interfaces[" + key + "]"
		if touched(path) {
			delete(object(tree), "state")
			forgetTree(object(tree), path, touched)
		}
	}
	for _, section := range []string{"routes", "route-rules"} {
		maps.DeleteFunc(object(originals[section]), func(key string, _ any) bool { return touched(key) })
	}
	for _, section := range nodeSections() {
		forgetTree(object(originals[section]), section, touched)
	}
}

func forgetTree(tree map[string]any, path string, touched func(string) bool) {
	for key, value := range tree {
		leaf := path + "." + key
		inner, nested := value.(map[string]any)
		switch {
		case !touched(leaf):
		case nested && key != string(IPv4) && key != string(IPv6):
			forgetTree(inner, leaf, touched)
		default:
			delete(tree, key)
		}
	}
}
